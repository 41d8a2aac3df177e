import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";

let relay: TestRelay;
let cli: Cli;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url });
});
afterAll(async () => {
  await cli.stop();
  await relay.stop();
});

describe("handfast keys", () => {
  it("makes a key for its owner only, shows it without the secret, and keeps what is there", async () => {
    const made = await cli.json(["keys", "make", "alice"]);
    expect(made).toMatchObject({ agent: "alice", created: true, jwk: { kty: "OKP" } });
    expect((await stat(String(made["path"]))).mode & 0o777).toBe(0o600);
    expect(await cli.json(["keys", "make", "alice"])).toEqual({ ...made, created: false });
    const shown = await cli.run(["keys", "show", "alice"]);
    expect(shown.stdout).toContain(String(made["thumbprint"]));
    expect(JSON.stringify(made) + shown.stdout).not.toContain('"d"');
    expect((await cli.run(["keys", "path", "alice"])).stdout).toBe(`${made["path"]}\n`);
  });

  it("lists keys, and says which one cannot be used", async () => {
    const { path } = await cli.json(["keys", "make", "open"]);
    await chmod(String(path), 0o644);
    const { keys } = (await cli.json(["keys"])) as { keys: { agent: string; problem: string | null }[] };
    expect(keys.find(({ agent }) => agent === "open")?.problem).toContain("open to others");
    const { code, stdout } = await cli.run(["doctor"]);
    expect(code).toBe(78);
    expect(stdout).toMatch(/^problem {2}keys .*open to others[\s\S]*chmod 600/m);
  });

  it("asks for a name, and for a key that is there", async () => {
    expect((await cli.run(["keys", "show"])).code).toBe(64);
    expect(await cli.run(["keys", "show", "nobody"])).toMatchObject({
      code: 66,
      stderr: expect.stringContaining("handfast keys make nobody"),
    });
  });

  it("rotates: the agent stays who it is, goes on with the new key, and the old one is kept", async () => {
    await cli.run(["doctor", "--agent", "bob"]);
    const before = await cli.json(["keys", "show", "bob"]);
    const rotated = await cli.json(["keys", "rotate", "bob"]);
    expect(rotated).toMatchObject({ agent: "bob", old: before["thumbprint"] });
    expect((await cli.json(["keys", "show", "bob"]))["thumbprint"]).toBe(rotated["thumbprint"]);
    const agent = await cli.json(["agents", "show", "bob", "--agent", "bob"]);
    expect(agent["identity"]).toBe(before["thumbprint"]);
    expect(agent["keys"]).toMatchObject([{ thumbprint: before["thumbprint"] }, { thumbprint: rotated["thumbprint"] }]);
    const files = await readdir(join(cli.folder, "home", "keys"));
    expect(files.filter((name) => name.startsWith("bob.")).length).toBe(2);
  });
});
