import { describe, expect, it } from "vitest";
import type { Command } from "./command.ts";
import { allCommands, commandsFor } from "./commands.ts";
import { typed } from "./testing/typed.ts";

const all = await allCommands();
const leaves = (command: Command, path = ""): readonly (readonly [string, Command])[] => [
  [`${path}${command.name}`, command],
  ...(command.commands ?? []).flatMap((sub) => leaves(sub, `${path}${command.name} `)),
];
const every = all.flatMap((command) => leaves(command));

describe("what is mistyped", () => {
  it("gets the nearest command, sub-command or option suggested, and ends with 64", async () => {
    expect(await typed(["snd"])).toMatchObject({ code: 64, stderr: expect.stringContaining("Did you mean send?") });
    expect(await typed(["keys", "lst"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("Did you mean list?"),
    });
    expect(await typed(["send", "x", "--tiemout", "1s"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("Did you mean --timeout?"),
    });
  });

  it("gets what others call it", async () => {
    for (const word of ["ls", "status"]) {
      expect(await typed([word])).toMatchObject({ code: 64, stderr: expect.stringContaining("Did you mean list?") });
    }
  });

  it("is told how it is typed where a word is missing, and which words there are", async () => {
    const { code, stderr } = await typed(["why"]);
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: "error: Missing required argument 'id'.\nType: handfast why [options] <id>\n",
    });
    const shell = await typed(["completion", "powershell"]);
    expect(shell).toMatchObject({ code: 64, stdout: "", stderr: expect.stringContaining("bash, zsh, fish") });
  });

  it("is refused with its value and what fits", async () => {
    const { code, stderr } = await typed(["send", "x", "1", "--timeout", "soon"]);
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: 'error: --timeout is "soon".\nGive a duration with its unit, such as 250ms, 60s, 5m, 2h or 7d.\n',
    });
  });

  it("is told as JSON on stderr with --json, and stdout stays empty", async () => {
    const { stdout, stderr } = await typed(["send", "x", "1", "--priority", "11", "--json"]);
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: '--priority is "11".', exit_code: 64 } });
  });

  it("shows no stack, unless --debug asks for it", async () => {
    expect((await typed(["send", "x", "nonsense"])).stderr).not.toContain("    at ");
    expect((await typed(["send", "x", "nonsense", "--debug"])).stderr).toContain("    at ");
  });
});

describe("help", () => {
  it.each(every)("of %s has an example and goes to stdout", async (path, command) => {
    expect(command.examples.length).toBeGreaterThan(0);
    expect(command.run === undefined).toBe(command.commands !== undefined);
    const { code, stdout } = await typed([...path.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Examples:");
    expect(stdout).toContain("--json");
  });

  it("of all lists every command and every exit code", async () => {
    const { stdout } = await typed(["--help"]);
    for (const { name, summary } of all) {
      expect(stdout).toContain(`\n  ${name}`);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(summary);
    }
    expect(stdout).toContain(" 75  Not now");
  });

  it("of start shows the relay's own options", async () => {
    expect((await typed(["start", "--help"])).stdout).toContain("--public-url");
  });

  it("is shown where a command needs another word", async () => {
    expect(await typed(["token"])).toMatchObject({ code: 64, stderr: expect.stringContaining("revoke") });
  });
});

it("each command is loaded by its own name", async () => {
  for (const { name } of all) {
    expect((await commandsFor([name, "x"])).some((command) => command.name === name)).toBe(true);
  }
  expect((await commandsFor(["version"])).length).toBe(1);
});

describe("colour", () => {
  const explain = (env: Record<string, string>, tty: boolean, ...more: string[]) =>
    typed(["explain", "408", ...more], { env, tty }).then(({ stdout }) => stdout.includes("\u001b["));

  it("is on a terminal only", async () => {
    expect(await explain({}, true)).toBe(true);
    expect(await explain({}, false)).toBe(false);
    expect(await explain({ TERM: "dumb" }, true)).toBe(false);
  });

  it("obeys NO_COLOR, FORCE_COLOR and --no-color", async () => {
    expect(await explain({ NO_COLOR: "1" }, true)).toBe(false);
    expect(await explain({ FORCE_COLOR: "1" }, false)).toBe(true);
    expect(await explain({ FORCE_COLOR: "0" }, true)).toBe(false);
    expect(await explain({ FORCE_COLOR: "1" }, true, "--no-color")).toBe(false);
  });
});

describe("explain", () => {
  it("knows codes, their names and reasons, with cause and remedy", async () => {
    expect((await typed(["explain", "408"])).stdout).toMatch(/^408 deadline_passed[\s\S]*^why: [\s\S]*^do: /m);
    expect((await typed(["explain", "relay_unreachable"])).stdout).toContain("docs/errors.md#relay_unreachable");
    const { explained } = JSON.parse((await typed(["explain", "422", "--json"])).stdout);
    expect(explained[0]).toMatchObject({ codes: [422], retryable: false });
  });

  it("suggests what may have been meant", async () => {
    const { code, stderr } = await typed(["explain", "deadlin_passed"]);
    expect(code).toBe(66);
    expect(stderr).toContain("Did you mean deadline_passed?");
  });
});
