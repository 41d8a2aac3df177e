import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HandoffError, RelayUnreachable } from "../errors.ts";
import { crash, fail, hang, reject, type TestRelay, testRelay } from "./mod.ts";

let relay: TestRelay;
beforeEach(async () => {
  relay = await testRelay();
});
afterEach(() => relay.stop());

async function typesOf(handoff: { readonly id: string }): Promise<readonly string[]> {
  return (await relay.eventsOf(handoff)).map(({ type }) => type);
}

test("a good day: the fake answers, and no time passes", async () => {
  const alice = await relay.connect("alice");
  const worker = relay.fake("research", ({ query }: { query: string }) => ({ summary: `all about ${query}` }));
  const began = relay.now();
  const handle = await alice.send("research", { query: "fsync" });
  expect(await handle.result()).toEqual({ summary: "all about fsync" });
  expect(worker.received).toEqual([{ id: handle.id, attempt: 1, input: { query: "fsync" } }]);
  expect(relay.now()).toBe(began);
  expect(await typesOf(handle)).toEqual(["accepted", "delivered", "acknowledged", "completed", "taken"]);
});

describe("time", () => {
  test("a deadline of 15 minutes passes in 15 virtual minutes, and not before", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", hang);
    const handle = await alice.send("research", {}, { timeout: "15m", attempt: "1h" });
    await relay.advance("14m");
    expect((await relay.handoff(handle)).state).toBe("working");
    await relay.advance("1m");
    await expect(handle.result()).rejects.toMatchObject({ code: 408, name: "deadline_passed", handoff: handle.id });
    expect(await relay.deadLetters()).toMatchObject([{ id: handle.id, code: 408 }]);
  });

  test("a handler that hangs but beats is ended by the attempt clock", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", [hang, "second try"]);
    const handle = await alice.send("research", {}, { attempt: "1m" });
    expect(await relay.until(handle.result())).toBe("second try");
    expect(await relay.handoff(handle)).toMatchObject({ attempts: 2, failures: [{ fence: 1 }] });
  });

  test("nobody offers it in time", async () => {
    const alice = await relay.connect("alice");
    const handle = await alice.send("research", {}, { queueIfAbsent: true, queue: "5m" });
    await expect(relay.until(handle.result())).rejects.toMatchObject({ code: 503 });
  });

  test("a handler that takes its time gets it", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", async () => {
      await relay.sleep("2m");
      return "done";
    });
    const began = relay.now();
    const handle = await alice.send("research", {});
    expect(await relay.until(handle.result())).toBe("done");
    expect(relay.now() - began).toBe(120_000);
  });

  test("a retry waits for its backoff, and for as long as the worker asked", async () => {
    const alice = await relay.connect("alice");
    const worker = relay.fake("research", [fail("busy"), fail("still busy", { after: "2m" }), { found: 1 }]);
    const handle = await alice.send("research", {});
    await relay.settle();
    expect(worker.received).toHaveLength(1);
    await relay.advance("1m");
    expect(worker.received).toHaveLength(2);
    await relay.advance("1m");
    expect(worker.received).toHaveLength(2);
    expect(await relay.until(handle.result())).toEqual({ found: 1 });
    expect((await relay.handoff(handle)).failures).toMatchObject([
      { error: { message: "busy" } },
      { error: { message: "still busy" } },
    ]);
  });
});

describe("workers", () => {
  test("a worker that crashes loses its lease after its time, and another attempt is made", async () => {
    const alice = await relay.connect("alice");
    const worker = relay.fake("research", [hang, "done"]);
    const handle = await alice.send("research", {});
    await handle.acknowledged();
    await relay.crash(worker);
    expect(worker.isRunning).toBe(false);
    await relay.advance("29s");
    expect((await relay.handoff(handle)).state).toBe("working");
    await relay.advance("1s");
    expect((await relay.handoff(handle)).state).toBe("queued");
    await worker.restart();
    expect(await relay.until(handle.result())).toBe("done");
    expect(worker.received.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test("after a crash the next attempt goes on from the checkpoint", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", [
      async (_input, ctx) => {
        await ctx.checkpoint({ page: 3 });
        return crash;
      },
      (_input, ctx) => ({ resumed_from: ctx.previous.checkpoint, attempt: ctx.attempt }),
    ]);
    const handle = await alice.send("research", {});
    expect(await relay.until(handle.result())).toEqual({ resumed_from: { page: 3 }, attempt: 2 });
  });

  test("every attempt crashes: it ends as a dead letter, and a redrive gives it another life", async () => {
    const alice = await relay.connect("alice");
    let broken = true;
    relay.fake("research", () => (broken ? crash : { found: 1 }));
    const handle = await alice.send("research", { query: "fsync" });
    await expect(relay.until(handle.result())).rejects.toMatchObject({ code: 521 });
    expect(await relay.deadLetters()).toHaveLength(1);
    broken = false;
    const again = await relay.redrive(handle);
    expect(await relay.until(alice.handle(again).result())).toEqual({ found: 1 });
    expect(await relay.deadLetters()).toEqual([]);
  });

  test("a failure that no retry mends ends it at once", async () => {
    const alice = await relay.connect("alice");
    const worker = relay.fake("research", fail("no such topic", { retryable: false, reason: "unknown_topic" }));
    const handle = await alice.send("research", {});
    await expect(handle.result()).rejects.toMatchObject({ code: 500, reason: "unknown_topic" });
    expect(worker.received).toHaveLength(1);
  });

  test("what an agent rejects is left to another; where there is none, it ends", async () => {
    const alice = await relay.connect("alice");
    const picky = relay.fake("research", reject("not my field"), { agent: "picky" });
    await picky.ready();
    const handle = await alice.send("research", {}, { attempts: 1 });
    await relay.settle();
    relay.fake("research", () => "anything goes", { agent: "easy" });
    const other = await alice.send("research", {}, { attempts: 1 });
    await expect(handle.result()).rejects.toMatchObject({ code: 501 });
    expect(await relay.until(other.result())).toBe("anything goes");
  });

  test("a worker that is cut off for longer than its lease comes too late, and its outcome is kept", async () => {
    const alice = await relay.connect("alice");
    const slow = relay.fake("research", async () => {
      await relay.sleep("1m");
      return "too late";
    });
    const handle = await alice.send("research", {}, { attempts: 2 });
    await handle.acknowledged();
    relay.disconnect(slow);
    await relay.advance("31s");
    const quick = relay.fake("research", () => "in time", { agent: "quick" });
    expect(await relay.until(handle.result())).toBe("in time");
    expect(quick.received).toHaveLength(1);
    await relay.reconnect(slow);
    await relay.advance("1m");
    expect(await relay.handoff(handle)).toMatchObject({
      outcome: { agent: "quick", output: "in time" },
      late: [{ state: "completed", outcome: { output: "too late" } }],
    });
  });

  test("my own agent can crash, too", async () => {
    const alice = await relay.connect("alice");
    const mine = await relay.connect("mine");
    const inputs: unknown[] = [];
    const listeners = process.listenerCount("SIGTERM");
    const serve = (client: typeof mine) =>
      client.serve({
        shout: (input: string, ctx) => {
          inputs.push(input);
          return ctx.attempt === 1 ? new Promise(() => {}) : input.toUpperCase();
        },
      });
    await serve(mine);
    const handle = await alice.send<string>("shout", "hello");
    await handle.acknowledged();
    await relay.crash(mine);
    expect(process.listenerCount("SIGTERM")).toBe(listeners);
    await serve(await relay.connect("mine"));
    expect(await relay.until(handle.result())).toBe("HELLO");
    expect(inputs).toEqual(["hello", "hello"]);
  });
});

describe("questions", () => {
  test("a parked question holds no worker; its answer brings the handoff back", async () => {
    const alice = await relay.connect("alice");
    const worker = relay.fake("trip", async (_input, ctx) => ({ booked: await ctx.ask("Which day?", { park: true }) }));
    const handle = await alice.send("trip", { to: "Oslo" });
    await relay.settle();
    expect(await relay.handoff(handle)).toMatchObject({ state: "waiting", lease: null, question: { parked: true } });
    await relay.advance("5m");
    for await (const question of alice.questions()) {
      await alice.answer(question, "Monday");
      break;
    }
    expect(await relay.until(handle.result())).toEqual({ booked: "Monday" });
    expect(worker.received).toHaveLength(2);
  });

  test("a parked question that nobody answers in time ends the handoff", async () => {
    const alice = await relay.connect("alice");
    relay.fake("trip", (_input, ctx) => ctx.ask("Which day?", { park: true, within: "2m" }));
    const handle = await alice.send("trip", {});
    await relay.advance("119s");
    expect((await relay.handoff(handle)).state).toBe("waiting");
    await relay.advance("1s");
    await expect(handle.result()).rejects.toBeInstanceOf(HandoffError);
  });
});

describe("the network and the relay", () => {
  test("a sender that was cut off finds its outcome when it is back", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", async () => {
      await relay.sleep("10s");
      return "done meanwhile";
    });
    const handle = await alice.send("research", {});
    const result = handle.result();
    relay.disconnect(alice);
    await relay.advance("20s");
    expect((await relay.handoff(handle)).state).toBe("completed");
    await relay.reconnect(alice);
    expect(await relay.until(result)).toBe("done meanwhile");
  });

  test("a network that is silent is found out without anybody being told", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", async () => {
      await relay.sleep("1m");
      return "done";
    });
    const handle = await alice.send("research", {});
    const result = handle.result();
    relay.disconnect(alice, { silently: true });
    await relay.advance("5m");
    await relay.reconnect(alice);
    expect(await relay.until(result)).toBe("done");
  });

  test("who is cut off for longer than its patience is told", async () => {
    const alice = await relay.connect("alice", { patience: "20s" });
    relay.fake("research", () => "done");
    await relay.settle();
    relay.disconnect(alice);
    await expect(relay.until(alice.send("research", {}))).rejects.toBeInstanceOf(RelayUnreachable);
  });

  test("a slow network is only slow", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", () => "done");
    relay.delay(alice, "3s");
    const began = relay.now();
    const result = alice.send("research", {}).then((handle) => handle.result());
    expect(await relay.until(result)).toBe("done");
    expect(relay.now() - began).toBeGreaterThanOrEqual(6_000);
  });

  test("the relay restarts in the middle of the work, and the worker finishes under the same fence", async () => {
    const alice = await relay.connect("alice");
    const worker = relay.fake("research", async () => {
      await relay.sleep("1m");
      return "done";
    });
    const handle = await alice.send("research", {});
    await handle.acknowledged();
    await relay.restart({ down: "10s" });
    expect(await relay.until(handle.result())).toBe("done");
    expect(worker.received).toHaveLength(1);
    expect(await relay.handoff(handle)).toMatchObject({ fence: 1, attempts: 1 });
  });

  test("the relay comes back empty, and its agents make themselves known again", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", () => "done");
    await (await alice.send("research", {})).result();
    await relay.restartEmpty({ down: "1m" });
    expect(await relay.events()).toEqual([]);
    const handle = await relay.until(alice.send("research", {}));
    expect(await relay.until(handle.result())).toBe("done");
  });
});
