import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Client, connect, Retry } from "@handfast/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";
import { readAnswer } from "./answer-here.ts";

let relay: TestRelay;
let cli: Cli;
let worker: Client;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url, HANDFAST_AGENT: "sender" });
  worker = await connect({ url: relay.url, agent: "worker", home: join(cli.folder, "home"), onConnection: () => {} });
  await worker.serve(
    {
      asks: async (_input, ctx) => {
        ctx.progress(1);
        return ctx.ask("Which colour?", { id: "colour", schema: { type: "string" } });
      },
      busy: (_input, ctx) => {
        if (ctx.attempt === 1) throw new Retry("model overloaded", { after: "10ms" });
        return "done";
      },
      slow: async (_input, ctx) => {
        await new Promise((_, reject) => ctx.signal.addEventListener("abort", reject));
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

describe("whoever waits is told", () => {
  it("of a question: its text, and exactly what to type", async () => {
    const waiting = cli.spawn(["send", "asks", "1"]);
    const [, id = ""] = await waiting.said(/^answer it \(within .*\): handfast answer (\S+) --text VALUE$/m);
    expect(waiting.stderr).toContain('worker asks you: "Which colour?"');
    expect((await cli.run(["answer", id, "--text", "red"])).code).toBe(0);
    expect(await waiting.ended()).toMatchObject({ code: 0, stdout: '"red"\n' });
    expect(waiting.stderr).toContain("answered by sender");
  });

  it("of another attempt and why; the last line counts them, and has the first ack", async () => {
    const { stdout, stderr } = await cli.run(["send", "busy", "1"]);
    expect(stdout).toBe('"done"\n');
    expect(stderr).toMatch(/^attempt 2 of 3 after: model overloaded \(in \d+ ms\)$/m);
    expect(stderr).toMatch(/^accepted .* · acknowledged by worker .* · completed .* · 2 attempts$/m);
  });

  it("that nobody is there, with the reasoning of why", async () => {
    await relay.agent("dora", "web_research");
    const waiting = cli.spawn(["send", "web_research", "1"]);
    await waiting.said(/^Queued because nobody is asking for it: no worker of dora is there/m);
    expect((await waiting.stop("SIGINT")).code).toBe(130);
    expect(waiting.stderr).not.toContain("error:");
  });

  it("that the relay is away, and that it is back", async () => {
    const waiting = cli.spawn(["send", "slow", "1"]);
    await untilWorking();
    await relay.pause();
    await waiting.said(/The relay at \S+ is away, trying again\./);
    await relay.resume();
    await waiting.said(/The relay at \S+ is back\./);
    await waiting.stop("SIGINT");
  });
});

async function untilWorking(): Promise<void> {
  const working = () => relay.get("/v1/handoffs?state=working", operator_token);
  while ((await working()).body.handoffs.length === 0) await setImmediate();
}

describe("an answer that is typed where one waits", () => {
  it("is text where that is wanted, else JSON, else text where nothing is expected", () => {
    expect(readAnswer("red", { type: "string" })).toEqual({ value: "red" });
    expect(readAnswer("7", { type: "integer" })).toEqual({ value: 7 });
    expect(readAnswer("yes, please", undefined)).toEqual({ value: "yes, please" });
    expect(readAnswer("red", { type: "integer" })).toEqual({ fault: "it is not JSON" });
    expect(readAnswer("blue", { enum: ["red"] })).toMatchObject({ fault: expect.stringContaining('"red"') });
  });
});
