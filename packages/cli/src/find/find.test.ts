import { join } from "node:path";
import { type Client, connect } from "@handfast/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";

let relay: TestRelay;
let cli: Cli;
let worker: Client;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url, HANDFAST_AGENT: "asker" });
  worker = await connect({ url: relay.url, agent: "worker", home: join(cli.folder, "home") });
  await worker.serve(
    {
      upper: {
        text: true,
        handler: (text) => String(text).toUpperCase(),
        description: "Puts text into capital letters.",
        tags: ["text"],
        version: "1.2.0",
        timeout: "30s",
        cost: { amount: 100, per: "handoff" },
      },
    },
    { signals: false },
  );
});
afterAll(async () => {
  await worker.close();
  await cli.stop();
  await relay.stop();
});

describe("handfast find", () => {
  it("shows who meets the need, with why below", async () => {
    const { code, stdout } = await cli.run(["find", "capital", "letters", "--tag", "text", "--live"]);
    expect(stdout).toMatch(
      /^agent +capability +is +reliability +price\nworker +upper 1\.2\.0 +live +unclaimed \(n=0\) .*\n {2}\S/,
    );
    expect(code).toBe(0);
  });

  it("shows who came nearest and what it lacks where nobody meets it, and ends as for what is missing", async () => {
    const { code, stdout, stderr } = await cli.run(["find", "--capability", "upper", "--version-range", "^2"]);
    expect({ code, stdout }).toEqual({ code: 66, stdout: "" });
    expect(stderr).toMatch(/Nobody meets this need\.\nThe nearest:\n {2}worker · upper 1\.2\.0\n {4}lacks: .*\^2/);
  });

  it("gives the whole answer as JSON", async () => {
    expect(await cli.json(["find", "--capability", "upper"])).toMatchObject({
      found: 1,
      hits: [{ agent_id: "worker" }],
    });
    expect(await cli.json(["find", "--capability", "nothing"])).toMatchObject({ found: 0, hits: [] });
  });

  it("says which flag is meant by --version", async () => {
    const { code, stderr } = await cli.run(["find", "upper", "--version", "^1"]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("Did you mean --version-range?")]);
  });

  it("finds by the highest price", async () => {
    const found = async (most: string) => (await cli.json(["find", "--max-cost", most]))["found"];
    expect([await found("99"), await found("100")]).toEqual([0, 1]);
  });

  it("refuses a share above one and a schema that is none", async () => {
    expect((await cli.run(["find", "--min-reliability", "1.5"])).code).toBe(64);
    expect((await cli.run(["find", "--output-schema", "5"])).code).toBe(64);
  });
});

describe("handfast negotiate", () => {
  it("lists the offers on the terms that were asked for", async () => {
    const { code, stdout } = await cli.run(["negotiate", "upper", "--deadline", "1m", "--max-attempts", "2"]);
    expect(stdout).toMatch(/^worker +upper +live +100 per handoff +1 min +2 +unclaimed/m);
    expect(code).toBe(0);
  });

  it("says who came nearest where nobody offers on these terms", async () => {
    const { code, stderr } = await cli.run(["negotiate", "upper", "--max-cost", "99"]);
    expect(stderr).toMatch(/Nobody offers this on these terms\.\nThe nearest:\n {2}worker · upper/);
    expect(code).toBe(66);
  });

  it("agrees with --accept, and work is handed over under the contract", async () => {
    const { stdout, stderr } = await cli.run(["negotiate", "upper", "--deadline", "1m", "--accept"]);
    expect(stderr).toContain(
      "agreed with worker: upper within 1 min, in up to 3 attempts, for 100 millionths per handoff, until ",
    );
    expect(stderr).not.toContain("cannot sign");
    const id = stdout.trim();
    const sent = await cli.run(["send", "--contract", id, "--text", "hello"]);
    expect([sent.code, sent.stdout]).toEqual([0, "HELLO\n"]);
    const [handoff] = (await cli.json(["list", "--limit", "1"]))["handoffs"] as [{ id: string }];
    expect((await cli.run(["show", handoff.id])).stdout).toMatch(new RegExp(`^ +contract +${id}$`, "m"));
    const beyond = await cli.run(["send", "--contract", id, "--text", "hello", "--timeout", "5m"]);
    expect([beyond.code, beyond.stderr]).toEqual([65, expect.stringContaining("beyond_contract")]);
  });

  it("says what is no id of a contract, and as whom a strange one was asked for", async () => {
    const short = await cli.run(["send", "--contract", "abc", "--text", "hello"]);
    expect([short.code, short.stderr]).toEqual([
      64,
      expect.stringMatching(/"abc" is no id of a contract\.\nGive all 64/),
    ]);
    const strange = await cli.run(["send", "--contract", "0".repeat(64), "--text", "hello"]);
    expect([strange.code, strange.stderr]).toEqual([66, expect.stringContaining("You called as asker.")]);
    expect(strange.stderr).not.toContain("handoff 000");
  });

  it("sends whoever gives words in place of a name to find", async () => {
    const { code, stderr } = await cli.run(["negotiate", "translate into French"]);
    expect([code, stderr]).toEqual([
      64,
      expect.stringMatching(/negotiate takes the name.*\nFind it: .*find translate into/),
    ]);
  });

  it("refuses a target beside a contract, which names its own", async () => {
    const { code, stderr } = await cli.run(["send", "--contract", "x", "upper", "--text", "hello"]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("the only word is the input")]);
  });
});

describe("handfast contracts", () => {
  it("lists what was agreed on, shows one, and ends it", async () => {
    const agree = ["negotiate", "upper", "--deadline", "1m", "--max-attempts", "1", "--accept"];
    const { stdout, stderr } = await cli.run(agree);
    expect(stderr).toContain("in 1 attempt,");
    const id = stdout.trim();
    const listed = await cli.run(["contracts", "list", "--state", "in_force", "--side", "asker"]);
    expect(listed.stdout).toMatch(
      new RegExp(`^${id} +in force +asker +worker +upper +\\S+ \\S+ +for 100 millionths per handoff$`, "m"),
    );
    const ended = await cli.run(["contracts", "end", id, "--reason", "enough"]);
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining(`ended ${id}`)]);
    const shown = await cli.run(["contracts", "show", id]);
    expect(shown.stdout).toMatch(/^state +ended\nasker +asker · signed\nprovider +worker · signed$/m);
    expect(shown.stdout).toMatch(/^ended .* by asker: enough$/m);
    expect(await cli.json(["contracts", "list", "--side", "provider"])).toEqual({ contracts: [] });
  });
});
