import { join } from "node:path";
import { type Client, connect } from "@handfast/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";
import { typed } from "../testing/typed.ts";

let relay: TestRelay;
let cli: Cli;
let worker: Client;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url, HANDFAST_AGENT: "asker" });
  vi.stubEnv("HANDFAST_HOME", join(cli.folder, "home"));
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
        dataPolicy: { retention: "1h", regions: ["eu"], trains: false },
        sideEffects: "reversible",
      },
    },
    { signals: false },
  );
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await worker.close();
  await cli.stop();
  await relay.stop();
});

/** In this process: as the command does it, and sooner. */
function ran(words: readonly string[]) {
  return typed(words, { cwd: cli.folder, env: { HANDFAST_URL: relay.url, HANDFAST_AGENT: "asker" } });
}

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

  it("says which flag is meant by the beginning of one", async () => {
    for (const [begun, whole] of [
      ["--version", "--version-range"],
      ["--output", "--output-schema"],
    ] as const) {
      const { code, stderr } = await cli.run(["find", "upper", begun, "^1"]);
      expect([code, stderr]).toEqual([64, expect.stringContaining(`Did you mean ${whole}?`)]);
    }
  });

  it("finds by the highest price", async () => {
    const found = async (most: string) => (await cli.json(["find", "--max-cost", most]))["found"];
    expect([await found("99"), await found("100")]).toEqual([0, 1]);
  });

  it("finds by what it does with data, and to the world", async () => {
    const found = async (...words: readonly string[]) => (await cli.json(["find", ...words]))["found"];
    expect([await found("--retention", "0s"), await found("--retention", "400d")]).toEqual([0, 1]);
    expect(await found("--retention", "2h", "--region", "eu", "--region", "us", "--no-training")).toBe(1);
    expect([await found("--retention", "30m"), await found("--region", "us"), await found("--no-sharing")]).toEqual([
      0, 0, 0,
    ]);
    expect([await found("--side-effects", "none"), await found("--side-effects", "reversible")]).toEqual([0, 1]);
    const offers = await cli.json(["negotiate", "upper", "--region", "eu", "--no-training"]);
    expect(offers["offers"]).toMatchObject([{ terms: { data_policy: { regions: ["eu"], trains: false } } }]);
  });

  it("takes no price of another kind for the highest price", async () => {
    expect(await cli.json(["find", "--max-cost", "100", "--per", "thousand_tokens"])).toMatchObject({ found: 0 });
    expect((await cli.run(["find", "--per", "thousand_tokens"])).code).toBe(64);
  });

  it("refuses a share above one and a schema that is none", async () => {
    expect((await cli.run(["find", "--min-reliability", "1.5"])).code).toBe(64);
    expect((await cli.run(["find", "--output-schema", "5"])).code).toBe(64);
    const unquoted = await ran(["find", "--output-schema", "{french: string}"]);
    expect(unquoted.stderr).toMatch(/--output-schema is not JSON .*\nWrite strict JSON .* or give it as @file\.\n/);
  });
});

describe("handfast negotiate", () => {
  it("lists the offers on the terms that were asked for", async () => {
    const { code, stdout } = await cli.run(["negotiate", "upper", "--timeout", "1m", "--attempts", "2"]);
    expect(stdout).toMatch(/^agent +capability +is +price +deadline +attempts +reliability +take by\n/);
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
      "agreed with worker: upper within 1 min, in up to 3 attempts, for 100 millionths per handoff, valid until ",
    );
    expect(stderr).not.toContain("cannot sign");
    const id = stdout.trim();
    const sent = await cli.run(["send", "--contract", id, "--text", "hello"]);
    expect([sent.code, sent.stdout]).toEqual([0, "HELLO\n"]);
    const [handoff] = (await cli.json(["list", "--limit", "1"]))["handoffs"] as [{ id: string }];
    expect((await cli.run(["show", handoff.id])).stdout).toMatch(new RegExp(`^ +contract +${id}$`, "m"));
    const beyond = await cli.run(["send", "--contract", id, "--text", "hello", "--timeout", "5m"]);
    expect([beyond.code, beyond.stderr]).toEqual([65, expect.stringContaining("beyond_contract")]);
    expect(beyond.stderr).toMatch(/deadline_ms is 300000, where 60000 is agreed on; ask for as much or less/);
    expect(beyond.stderr.match(/ask for as much or less/gi)).toHaveLength(1);
    const same = await ran(["send", "--contract", id, "--to", "worker", "--capability", "upper", "--text", "hello"]);
    expect([same.code, same.stdout]).toEqual([0, "HELLO\n"]);
    const other = await ran(["send", "--contract", id, "--to", "asker", "--text", "hello"]);
    expect([other.code, other.stderr]).toEqual([65, expect.stringContaining("is with worker for upper 1.2.0")]);
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

  it.each([
    ["several words", ["capital", "letters"]],
    ["words in one", ["capital letters"]],
    ["words beside a name", ["letters", "--capability", "upper"]],
    ["a tag alone", ["--tag", "text"]],
  ])("asks by need: %s", async (_, words) => {
    const { code, stdout } = await ran(["negotiate", ...words]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^worker +upper +live +100 per handoff/m)]);
  });

  it("takes one word as the name of a capability, so that nothing else is agreed to", async () => {
    expect((await ran(["negotiate", "letters", "--accept"])).code).toBe(66);
  });

  it("takes limits by their names of before too, and not by both", async () => {
    const { stdout } = await ran(["negotiate", "upper", "--deadline", "1m", "--max-attempts", "2"]);
    expect(stdout).toMatch(/^worker +upper +live +100 per handoff +1 min +2 /m);
    const both = await ran(["negotiate", "upper", "--deadline", "1m", "--timeout", "2m"]);
    expect([both.code, both.stderr]).toEqual([64, expect.stringContaining("--timeout and --deadline are the same.")]);
  });

  it("is told what is to be done, and a time that a contract can have", async () => {
    expect((await ran(["negotiate", "--timeout", "1m"])).stderr).toMatch(/For what\?\nName a capability/);
    const { code, stderr } = await ran(["negotiate", "upper", "--valid", "31d"]);
    expect([code, stderr]).toEqual([64, expect.stringContaining('--valid is "31d".\nGive 30 d at most.')]);
  });

  it("says of an agent that was named whether it is known, and of the asker itself that it is", async () => {
    const named = await ran(["negotiate", "sing", "a", "song", "--to", "worker", "--to", "nobody"]);
    expect(named.stderr).toContain("  nobody\n    lacks: It is not known here.\n");
    expect(named.stderr).toMatch(/ {2}worker.*\n {4}lacks: It (offers nothing like it|says nothing of sing)/);
    const own = await ran(["negotiate", "upper", "--agent", "worker"]);
    expect(own.stderr).toMatch(/worker · upper 1\.2\.0\n {4}lacks: It is the asker itself/);
  });

  it("says durations in words", async () => {
    const { stderr } = await ran(["negotiate", "upper", "--timeout", "20s"]);
    expect(stderr).toContain("lacks: It may take 30 seconds for one attempt, and is given 20 seconds.");
  });

  it("says why a rival sees no price", async () => {
    const rival = await connect({ url: relay.url, agent: "rival", home: join(cli.folder, "home") });
    const serving = await rival.serve({ upper: { text: true, handler: String } }, { signals: false });
    await serving.stop();
    await rival.close();
    const { stdout, stderr } = await ran(["negotiate", "upper", "--agent", "rival"]);
    expect(stdout).toMatch(/^worker +upper +live +sealed +sealed +sealed/m);
    expect(stderr).toContain("sealed: rival offers upper too, or did within 30 days");
  });

  it("refuses a target beside a contract, which names its own", async () => {
    const { code, stderr } = await cli.run(["send", "--contract", "x", "upper", "--text", "hello"]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("the only word is the input")]);
  });
});

describe("handfast agents show", () => {
  it("says how long one attempt may take", async () => {
    expect((await ran(["agents", "show", "worker"])).stdout).toMatch(/^ {2}timeout +30 s$/m);
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
      new RegExp(`^${id} +in force +asker +worker +upper +\\S+ \\S+ +100 millionths per handoff$`, "m"),
    );
    const ended = await cli.run(["contracts", "end", id, "--reason", "enough"]);
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining(`ended ${id}`)]);
    const again = await ran(["contracts", "end", id]);
    expect([again.code, again.stderr]).toEqual([0, expect.stringMatching(`${id} was ended before, .* by asker`)]);
    const shown = await cli.run(["contracts", "show", id]);
    expect(shown.stdout).toMatch(/^state +ended\nasker +asker · signed\nprovider +worker · signed$/m);
    expect(shown.stdout).toMatch(/^ended .* by asker: enough$/m);
    expect(shown.stdout).toMatch(/^attempts +1\nattempt +30 s\nqueue +1 min\nack +10 s\nlease +30 s$/m);
    expect(await cli.json(["contracts", "list", "--side", "provider"])).toEqual({ contracts: [] });
  });

  it("says from what to what the capability changed, and once what to do", async () => {
    const changing = await connect({ url: relay.url, agent: "changing", home: join(cli.folder, "home") });
    const offer = (timeout: "10s" | "20s") =>
      changing.serve({ lower: { text: true, timeout, handler: String } }, { signals: false });
    const first = await offer("10s");
    const id = (await ran(["negotiate", "lower", "--accept"])).stdout.trim();
    await first.stop();
    const second = await offer("20s");
    expect((await ran(["contracts", "show", id])).stdout).toMatch(/^changed +timeout_seconds 10 -> 20$/m);
    const { code, stderr } = await ran(["send", "--contract", id, "--text", "hello"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("has changed lower (timeout_seconds 10 -> 20); negotiate"),
    ]);
    expect(stderr.match(/negotiate a new one/gi)).toHaveLength(1);
    await second.stop();
    await changing.close();
  });
});
