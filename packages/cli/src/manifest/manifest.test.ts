import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli } from "../testing/cli.ts";
import { typed } from "../testing/typed.ts";
import { Answers } from "./answers.ts";
import { askForRest, type Person } from "./ask.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "handfast-manifest-"));
});
afterAll(() => rm(cwd, { recursive: true }));

const sound = `{
  "agent_id": "research-agent-001",
  "capabilities": [
    { "name": "web_research",
      "input_schema": {"query": "string", "depth": "int"},
      "output_schema": {"sources": "array", "summary": "string"},
      "timeout_seconds": 300, "reliability_sla": 0.95 } ],
  "discovery_endpoint": "https://agent-registry.example.com/research-agent-001"
}`;

async function lint(text: string, ...flags: string[]) {
  await writeFile(join(cwd, "m.json"), text);
  return typed(["manifest", "lint", "m.json", ...flags], { cwd });
}

describe("handfast manifest lint", () => {
  it("finds nothing in the example of the specification, and ends with 0", async () => {
    expect(await lint(sound, "--strict")).toEqual({ code: 0, stdout: "", stderr: "m.json: 0 faults, 0 warnings\n" });
  });

  it("tells each fault with file, line and column, what it is and what to do, and ends with 1", async () => {
    const { code, stdout, stderr } = await lint(sound.replace("0.95", "1.5").replace('"int"', '"itn"'));
    expect(stdout.split("\n")).toEqual([
      'm.json:5:43: fault /capabilities/0/input_schema/depth is "itn", which names no type. Use string, int, integer, number, float, bool, boolean, object, array, null, any, or a JSON Schema.',
      "m.json:7:31: fault /capabilities/0/reliability_sla is 1.5. Write a number above 0 up to 1.",
      "",
    ]);
    expect(stderr).toBe("m.json: 2 faults, 0 warnings\n");
    expect(code).toBe(1);
  });

  it("says which member is meant by one that leaves out its unit", async () => {
    const { stdout } = await lint(sound.replace('"timeout_seconds"', '"timeout"'));
    expect(stdout).toMatch(/\/capabilities\/0\/timeout is not a member .* Did you mean "timeout_seconds"\?/);
  });

  it("says where the comma stands after which nothing comes", async () => {
    const { stdout } = await lint(sound.replace("0.95 }", "0.95,\n    }"));
    expect(stdout).toMatch(
      /^m\.json:7:54: fault .* a comma after which nothing comes\. Take out the comma in line 7\.\n/,
    );
  });

  it("fails for warnings only where that is asked for", async () => {
    const warned = sound.replace('"timeout_seconds": 300, ', "");
    expect(await lint(warned)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^m\.json:4:5: warning .* has no timeout_seconds/),
    });
    expect((await lint(warned, "--strict")).code).toBe(1);
  });

  it("tells programs everything as one document", async () => {
    const { code, stdout } = await lint(sound.replace('"web_research"', '"wеb"'), "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      file: "m.json",
      faults: 1,
      warnings: 0,
      findings: [
        {
          kind: "fault",
          rule: "name",
          path: "/capabilities/0/name",
          line: 4,
          column: 7,
          remedy: expect.stringMatching(/"web"/),
        },
      ],
    });
  });

  it.each([
    ["{", /m\.json:1:2: fault the manifest is not JSON .*: it ends too early/],
    ["", /m\.json:1:1: fault the manifest is not JSON .*: it is empty\./],
    ["agent_id: a\n", /m\.json:1:1: fault the manifest is not JSON .*: it does not begin as JSON does, with \{\./],
    [
      '\u{FEFF}{"agent_id": "a"}',
      /m\.json:1:1: fault .*: it begins with a byte order mark \(U\+FEFF\), .*\. Save it as UTF-8 without one\./,
    ],
    ['{"agent_id" "a"}', /fault \S+ is not JSON .*: syntax\./],
    ['{"agent_id": "a",\n "agent_id": "b"}', /m\.json:2:2: fault \/agent_id .*duplicate key/],
    ['{"a": 12345678901234567890}', /out of range/],
    ['"text"', /fault the manifest is "text", which is text/],
  ])("%j is a fault, not a crash", async (text, told) => {
    const { code, stdout } = await lint(text);
    expect(stdout).toMatch(told);
    expect(code).toBe(1);
  });

  it("says which file is not there", async () => {
    const { code, stderr } = await typed(["manifest", "lint", "nowhere.json"], { cwd });
    expect(stderr).toMatch(/There is no file .*nowhere\.json/);
    expect(code).toBe(66);
  });

  it("reads stdin", async () => {
    const cli = await Cli.make();
    try {
      expect((await cli.run(["manifest", "lint", "-"], { stdin: sound })).code).toBe(0);
      const { code, stdout } = await cli.run(["manifest", "lint", "-"], { stdin: sound.replace("0.95", "2") });
      expect(stdout).toMatch(/^stdin:7:31: fault/);
      expect(code).toBe(1);
    } finally {
      await cli.stop();
    }
  });
});

describe("handfast manifest new", () => {
  const make = (...flags: string[]) => typed(["manifest", "new", ...flags], { cwd });

  it("writes a file without a fault, and without a question where nobody is there", async () => {
    const flags = ["--agent", "a", "--capability", "c"];
    const { code, stderr } = await make("one.json", ...flags);
    expect([code, stderr.split("\n")]).toEqual([
      0,
      [
        expect.stringMatching(/^one\.json:\S+ warning \S+\/input_schema is \{\}: anything is taken\./),
        expect.stringMatching(/^one\.json:\S+ warning \S+\/output_schema is \{\}: anything may come back, /),
        "wrote one.json",
        "",
      ],
    ]);
    expect(JSON.parse(await readFile(join(cwd, "one.json"), "utf8"))).toEqual({
      agent_id: "a",
      capabilities: [{ name: "c", input_schema: {}, output_schema: {}, timeout_seconds: 300 }],
    });
    const { stderr: linted, code: ended } = await typed(["manifest", "lint", "one.json"], { cwd });
    expect([linted.split("\n")[0], ended]).toEqual(["one.json: 0 faults, 2 warnings", 0]);
  });

  it("has a flag for everything", async () => {
    const { code, stdout, stderr } = await make(
      ...["-", "--agent", "a", "--capability", "c", "--description", "It.", "--capability-version", "1.0.0"],
      ...["--input-schema", '{"n": "int"}', "--output-schema", '{"n": "int"}', "--timeout", "90s"],
      ...["--reliability", "0.95", "--window", "7d", "--conditions", "On weekdays.", "--no-retry"],
      ...["--side-effects", "irreversible", "--tag", "x", "--tag", "y", "--example", '{"input": {"n": 1}}'],
      ...["--max-concurrent", "4", "--p50", "1s", "--p95", "60s", "--cost", "1200", "--per", "thousand_tokens"],
      ...["--retention", "0s", "--region", "eu", "--trains", "no", "--shares", "no", "--proposes"],
      ...["--endpoint", "https://a.example", "--lease", "1h", "--manifest-version", "7"],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      agent_id: "a",
      version: 7,
      discovery_endpoint: "https://a.example",
      lease_seconds: 3_600,
      capabilities: [
        {
          name: "c",
          description: "It.",
          version: "1.0.0",
          input_schema: { n: "int" },
          output_schema: { n: "int" },
          timeout_seconds: 90,
          reliability_sla: 0.95,
          sla: { window_seconds: 604_800, conditions: "On weekdays." },
          idempotent: false,
          side_effects: "irreversible",
          tags: ["x", "y"],
          examples: [{ input: { n: 1 } }],
          max_concurrent: 4,
          latency: { p50_ms: 1_000, p95_ms: 60_000 },
          cost: { amount: 1_200, per: "thousand_tokens" },
          data_policy: { retention_seconds: 0, regions: ["eu"], trains: false, shares: false },
          proposes: true,
        },
      ],
    });
  });

  it("overwrites nothing, unless it is told to", async () => {
    const flags = ["--agent", "a", "--capability", "c"];
    await make("two.json", ...flags);
    expect(await make("two.json", ...flags, "--timeout", "1s")).toMatchObject({
      code: 73,
      stderr: expect.stringMatching(/--force/),
    });
    expect(await readFile(join(cwd, "two.json"), "utf8")).toContain("300");
    expect((await make("two.json", ...flags, "--timeout", "1s", "--force")).code).toBe(0);
    expect(await readFile(join(cwd, "two.json"), "utf8")).not.toContain("300");
  });

  it("writes nothing that a relay would refuse", async () => {
    const { code, stderr } = await make("three.json", "--agent", "ä", "--capability", "c", "--reliability", "0");
    expect(code).toBe(64);
    expect(stderr).toMatch(/three\.json:2:3: fault \/agent_id .*Write "a"/);
    expect(stderr).toMatch(/reliability_sla is 0/);
    await expect(readFile(join(cwd, "three.json"))).rejects.toThrow(/ENOENT/);
  });

  it("names no stdin where nothing was read, and leads a person to serving", async () => {
    const { stderr } = await make("-", "--agent", "a", "--capability", "c", "--reliability", "0");
    expect(stderr).toMatch(/^manifest:\d+:\d+: fault .*reliability_sla is 0/m);
    const flags = ["--agent", "a", "--capability", "c"];
    const written = await typed(["manifest", "new", "four.json", ...flags], { cwd, tty: true });
    expect(written.stderr).toContain("handfast serve c --manifest four.json -- COMMAND");
  });

  it("says what is missing where nobody can be asked", async () => {
    expect(await make("--capability", "c")).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--agent is missing/),
    });
    expect(await make("--agent", "a")).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--capability is missing/),
    });
  });
});

describe("answers", () => {
  it("that were pasted at once are each given to their question", async () => {
    const input = new PassThrough();
    const answers = new Answers(input, new PassThrough(), new AbortController().signal);
    const first = answers.ask("one?");
    input.write("1\n2\n3\n");
    expect([await first, await answers.ask("two?"), await answers.ask("three?")]).toEqual(["1", "2", "3"]);
    const last = answers.ask("four?");
    input.end();
    await expect(last).rejects.toThrow("The answers ended before the questions did");
    await expect(answers.ask("five?")).rejects.toThrow("The answers ended before the questions did");
  });

  it("are not waited for any longer once the command is stopped", async () => {
    const stopping = new AbortController();
    const answers = new Answers(new PassThrough(), new PassThrough(), stopping.signal);
    const asked = answers.ask("one?");
    stopping.abort(new Error("stopped"));
    await expect(asked).rejects.toThrow("stopped");
    answers.close();
  });
});

describe("what a person is asked", () => {
  /** Types these answers, in order. */
  function person(...answers: string[]): Person & { readonly told: string[]; readonly asked: string[] } {
    const told: string[] = [];
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      const answer = answers.shift();
      if (answer === undefined) throw new Error(`nobody answers ${question}`);
      return answer;
    };
    return { told, asked, ask, tell: (line) => void told.push(line) };
  }
  const empty = {
    agent_id: undefined,
    capabilities: [],
    version: undefined,
    discovery_endpoint: undefined,
    lease_seconds: undefined,
  };

  it("is one thing at a time, until the manifest is whole", async () => {
    const who = person("ann", "sum", "", '{"n": "int"}', "", "", "0.9", "1.0.0", "math fast", "500", "n");
    expect(JSON.parse(JSON.stringify(await askForRest(who, empty)))).toEqual({
      agent_id: "ann",
      capabilities: [
        {
          name: "sum",
          input_schema: { n: "int" },
          output_schema: {},
          timeout_seconds: 300,
          reliability_sla: 0.9,
          version: "1.0.0",
          tags: ["math", "fast"],
          cost: { amount: 500, per: "handoff" },
        },
      ],
    });
    expect(who.told).toEqual([]);
  });

  it("is asked again where a relay would refuse the answer, with the reason", async () => {
    const who = person(
      "",
      "ünn",
      "ann",
      "sum",
      "",
      '{"n": "itn"}',
      "{n}",
      '{"n": "int"}',
      "",
      "soon",
      "60",
      "1.5",
      "",
      "",
      "",
      "",
      "no",
    );
    const { capabilities } = await askForRest(who, empty);
    expect(capabilities[0]).toMatchObject({ name: "sum", input_schema: { n: "int" }, timeout_seconds: 60 });
    expect(who.told).toEqual([
      "This is needed.",
      expect.stringMatching(/"ü" \(U\+00FC\).*Write "unn"/),
      expect.stringMatching(/^\/n is "itn"/),
      expect.stringMatching(/^"{n}" is not JSON\. Write an object with quotes around every word/),
      '"soon" is no number of seconds and no duration, such as 30s or 5m.',
      expect.stringMatching(/is 1.5/),
    ]);
  });

  it("may be answered with a duration, and a number that is none is told as it was typed", async () => {
    const who = person("ann", "sum", "", "", "", "2m", "most", "0.9", "", "", "5 cents", "5", "");
    const { capabilities } = await askForRest(who, empty);
    expect(capabilities[0]).toMatchObject({
      timeout_seconds: 120,
      reliability_sla: 0.9,
      cost: { amount: 5, per: "handoff" },
    });
    expect(who.told).toEqual(['"most" is no number.', '"5 cents" is no number.']);
  });

  it("is not asked for what flags said, and may go on with another capability", async () => {
    const given = { ...empty, agent_id: "ann", capabilities: [{ name: "sum", input_schema: {}, output_schema: {} }] };
    const who = person("adds", "", "", "", "", "", "yes", "product", ...Array(8).fill(""), "");
    const { capabilities } = await askForRest(who, given);
    expect(capabilities.map(({ name }) => name)).toEqual(["sum", "product"]);
    expect(who.asked[0]).toMatch(/What it does/);
  });
});
