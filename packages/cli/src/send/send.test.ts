import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, connect, Fail, Retry } from "@handfast/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";

let relay: TestRelay;
let cli: Cli;
let worker: Client;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url, HANDFAST_AGENT: "sender" });
  worker = await connect({ url: relay.url, agent: "worker", home: join(cli.folder, "home") });
  await worker.serve(
    {
      echo: (input) => input,
      text: { text: true, handler: (input) => input },
      story: {
        text: true,
        handler: async (_input, ctx) => {
          await ctx.write("once upon ");
          await ctx.write("a time");
          return "once upon a time";
        },
      },
      slow: async (_input, ctx) => {
        ctx.progress(0.4, "reading \u001b[31mpage 2");
        await new Promise((_, reject) => ctx.signal.addEventListener("abort", reject));
      },
      broken: () => {
        throw new Fail("the disk is on fire", { reason: "fire" });
      },
      busy: () => {
        throw new Retry("come back later");
      },
      checked: { input: { type: "object", required: ["query"] }, handler: () => "fits" },
      size: (_input, ctx) => ctx.handoff.artifacts.map(({ name, size, media_type }) => ({ name, size, media_type })),
    },
    { signals: false },
  );
});
afterAll(async () => {
  await worker.close();
  await cli.stop();
  await relay.stop();
});

describe("handfast send: the input", () => {
  it("says that a folder is no file", async () => {
    const { code, stderr } = await cli.run(["send", "upper", "--text", "@."]);
    expect(stderr).toContain("is a folder, not a file");
    expect(code).toBe(66);
  });

  it("is JSON on the command line, and so is the output on stdout", async () => {
    const { code, stdout } = await cli.run(["send", "echo", '{"query": ["fsync", 1]}']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"query":["fsync",1]}\n' });
  });

  it("comes from a file, or from stdin", async () => {
    await writeFile(join(cli.folder, "input.json"), '{"from": "a file"}');
    expect((await cli.run(["send", "echo", "@input.json"])).stdout).toBe('{"from":"a file"}\n');
    expect((await cli.run(["send", "text", "--text"], { stdin: "two\nlines\n" })).stdout).toBe("two\nlines\n");
  });

  it("that is not JSON is refused before anything is sent, with what to do", async () => {
    const { code, stderr } = await cli.run(["send", "echo", "hello"]);
    expect(code).toBe(65);
    expect(stderr).toContain('The input is not JSON (syntax): "hello"');
    expect(stderr).toContain("--text");
    expect((await cli.run(["send", "echo", "@missing.json"])).code).toBe(66);
  });

  it("that is missing is named as missing, also where nothing is piped in", async () => {
    const { code, stderr } = await cli.run(["send", "echo"], { stdin: "\n" });
    expect([code, stderr]).toEqual([64, expect.stringContaining("There is no input: nothing came on stdin.")]);
    expect((await cli.run(["send", "text", "--text"], { stdin: "\n" })).stdout).toBe("\n");
  });

  it("may have files with it", async () => {
    await writeFile(join(cli.folder, "photo.png"), "12345");
    const { stdout } = await cli.run(["send", "size", "--file", "photo.png"]);
    expect(JSON.parse(stdout)).toEqual([{ name: "photo.png", size: 5, media_type: "image/png" }]);
  });

  it("goes to an agent by name with --to, and two words there are refused", async () => {
    expect(await cli.run(["send", "--to", "worker", "--capability", "echo", "[1]"])).toMatchObject({ stdout: "[1]\n" });
    const { code, stderr } = await cli.run(["send", "echo", "--to", "worker", "[1]"]);
    expect(code).toBe(64);
    expect(stderr).toContain("--to worker --capability echo");
  });
});

describe("handfast send: the outcome", () => {
  it("is the whole handoff with --json, and nothing else is on stdout", async () => {
    const view = await cli.json([
      "send",
      "echo",
      "1",
      "--label",
      "team=red",
      "--correlation",
      "group",
      "--priority",
      "3",
    ]);
    expect(view).toMatchObject({
      state: "completed",
      from: "sender",
      correlation_id: "group",
      labels: { team: "red" },
    });
    expect(view).toMatchObject({ priority: 3, outcome: { output: 1 } });
  });

  it("of a failure says why, what to do and where to read on, and ends with 1", async () => {
    const { code, stdout, stderr } = await cli.run(["send", "broken", "1"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/accepted .* · acknowledged by worker .* · failed /);
    expect(stderr).toContain("the disk is on fire");
    expect(stderr).toContain("more: handfast explain 500");
  });

  it("that may be better later ends with 75", async () => {
    expect((await cli.run(["send", "busy", "1", "--attempts", "1"])).code).toBe(75);
    expect((await cli.run(["send", "slow", "1", "--timeout", "300ms"])).code).toBe(75);
  });

  it("tells what a worker's own reason was", async () => {
    expect((await cli.run(["send", "broken", "1"])).stderr).toMatch(/^reason fire$/m);
  });

  it("of a mistyped capability suggests the nearest, in words of this command", async () => {
    const { code, stderr } = await cli.run(["send", "ecko", "1"]);
    expect(code).not.toBe(0);
    expect(stderr).toBe(
      'error: No agent offers "ecko".\n' +
        "Did you mean echo? Else start one: handfast serve ecko -- COMMAND; or wait for one with --queue-if-absent.\n" +
        "more: handfast explain nobody_offers\n",
    );
  });

  it("is refused at once where nobody offers it or the input does not fit", async () => {
    const nobody = await cli.run(["send", "nobody_offers_this", "1"]);
    expect(nobody).toMatchObject({ stdout: "", stderr: expect.stringContaining("nobody_offers_this") });
    expect(nobody.code).not.toBe(0);
    const unfit = await cli.run(["send", "checked", "{}"]);
    expect(unfit).toMatchObject({ code: 65, stderr: expect.stringContaining("query") });
  });

  it("is not waited for with --no-wait: the id alone is on stdout", async () => {
    const { code, stdout } = await cli.run(["send", "echo", "1", "--no-wait", "--idempotency-key", "once"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    const again = await cli.run(["send", "echo", "1", "--no-wait", "--idempotency-key", "once"]);
    expect(again).toMatchObject({ stdout, stderr: expect.stringContaining("accepted before") });
  });

  it("of streamed text is written once, also with --stream", async () => {
    expect((await cli.run(["send", "story", "--text", "x"])).stdout).toBe("once upon a time\n");
    expect((await cli.run(["send", "story", "--text", "x", "--stream"])).stdout).toBe("once upon a time\n");
  });

  it("shows progress without letting an agent steer the terminal; Ctrl-C stops waiting and says how to go on", async () => {
    const waiting = cli.spawn(["send", "slow", "1"]);
    await waiting.said(/^progress: 40 % reading page 2$/m);
    const { code, stderr } = await waiting.stop("SIGINT");
    expect(code).toBe(130);
    const [, id = ""] = /The handoff goes on\. See it: handfast show (\S+)\./.exec(stderr) ?? [];
    const { body } = await relay.get(`/v1/handoffs/${id}`, "operator-token-for-tests-only");
    expect(body.state).toBe("working");
  });
});
