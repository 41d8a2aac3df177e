import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { RelayUnreachable } from "../errors.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, completes, failure } from "./testing/works.ts";

let relay: TestRelay;
let sender: OpenSender;
let worker: TestAgent;
beforeEach(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "work");
});
afterEach(async () => {
  await sender.close();
  await relay.stop();
});

/** Comes back at the same address, on the same store. */
async function restart(between: () => Promise<void> = async () => {}): Promise<void> {
  await relay.pause();
  await between();
  await relay.resume();
}

describe.each(["websocket", "http"] as const)("over %s", (transport) => {
  beforeEach(async () => {
    sender = await openSender(relay, "sender", { transport });
  });

  describe("the relay restarts", () => {
    it("in the middle of result(), which goes on and gets it", async () => {
      const handle = await sender.send("work", 1);
      const { id, fence } = await claimed(worker);
      const result = handle.result();
      await restart();
      await worker.act(id, "complete", { fence, output: "after the restart" });
      expect(await result).toBe("after the restart");
    });

    it("after longer than a call is patient: a wait goes on until the deadline", async () => {
      const hasty = await openSender(relay, "hasty", { transport, patience: "1s" });
      const handle = await hasty.send("work", 1);
      const result = handle.result();
      await restart(async () => {
        expect(await failure(handle.status())).toBeInstanceOf(RelayUnreachable);
        expect(await failure(hasty.handle(handle.id).result())).toBeInstanceOf(RelayUnreachable);
      });
      await completes(worker, () => "still wanted");
      expect(await result).toBe("still wanted");
      await hasty.close();
    });

    it("after longer than a call is patient: outcomes(), questions() and events() go on", async () => {
      const hasty = await openSender(relay, "hasty", { transport, patience: "1s" });
      const handle = await hasty.send("work", 1);
      const outcomes = hasty.outcomes()[Symbol.asyncIterator]();
      const questions = hasty.questions()[Symbol.asyncIterator]();
      const events = handle.events()[Symbol.asyncIterator]();
      await events.next();
      const [outcome, question, event] = [outcomes.next(), questions.next(), events.next()];
      await restart(async () => {
        for (let count = 0; count < 2; count++) {
          expect(await failure(handle.status())).toBeInstanceOf(RelayUnreachable);
        }
      });
      const { id, fence } = await claimed(worker);
      expect((await event).value).toMatchObject({ type: "delivered" });
      await worker.act(id, "ask", { fence, question: "Which?", question_id: "q1" });
      expect((await question).value).toMatchObject({ question: "Which?" });
      await worker.act(id, "complete", { fence, output: 2 });
      expect((await outcome).value).toMatchObject({ id });
      await Promise.all([outcomes.return?.(), questions.return?.(), events.return?.()]);
      await hasty.close();
    });

    it("in the middle of events(), which neither lose nor repeat one", async () => {
      const handle = await sender.send("work", 1);
      const seen: string[] = [];
      for await (const { type } of handle.events()) {
        seen.push(type);
        if (type !== "accepted") continue;
        await restart();
        await completes(worker, () => 1);
      }
      expect(seen).toEqual(["accepted", "delivered", "acknowledged", "completed"]);
    });

    it("while a scatter is out, and all answers come", async () => {
      const scatter = sender.scatter<number>([1, 2, 3].map((input) => ({ capability: "work", input })));
      const outputs = scatter.all();
      await scatter.handles();
      await restart();
      for (let count = 0; count < 3; count++) await completes(worker, (input) => Number(input) + 1);
      expect(await outputs).toEqual([2, 3, 4]);
    });

    it("between the send and its answer: it is one handoff", async () => {
      const sending: Promise<unknown>[] = [];
      await restart(async () => {
        sending.push(sender.send("work", 1, { correlation: "once" }));
      });
      await Promise.all(sending);
      expect(await sender.gather("once").handles()).toHaveLength(1);
    });

    it("before the outcome was taken: the take is sent when it is back, and close() waits for it", async () => {
      const mine = await openSender(relay, "patient", { transport });
      const handle = await mine.send("work", 1);
      await completes(worker, () => "kept");
      const view = await handle.outcome({ take: false });
      await restart(async () => {
        expect([view.state, await handle.result()]).toEqual(["completed", "kept"]);
      });
      await mine.close();
      const again = await openSender(relay, "patient", { key: mine.key });
      expect((await again.handle(handle.id).status()).taken_at).not.toBeNull();
      await again.close();
    });
  });

  it("rejects a wait when the relay is away and the deadline has passed", async () => {
    const hasty = await openSender(relay, "hasty", { transport, patience: "1s" });
    const handle = await hasty.send("work", 1, { timeout: "1s" });
    const result = failure(handle.result());
    await restart(async () => {
      expect(await result).toBeInstanceOf(RelayUnreachable);
    });
    await hasty.close();
  });

  describe("the relay comes back empty", () => {
    it("and a wait for what it had accepted rejects with 404, and says so", async () => {
      const handle = await sender.send("work", 1);
      const result = failure(handle.result());
      const { port } = new URL(relay.url);
      await relay.stop();
      relay = await TestRelay.start({ limits: { stop_ms: 500 }, flags: ["--port", port] });
      const error = await result;
      expect(error).toMatchObject({ code: 404, reason: "unknown_handoff", handoff: handle.id });
      expect(error.message).toContain("accepted");
      expect(error.remedy).toContain("empty or older store");
    });
  });

  describe("the client is closed", () => {
    it("and whoever waits is told", async () => {
      const mine = await openSender(relay, "leaving", { transport });
      const handle = await mine.send("work", 1);
      const waiting = [failure(handle.result()), failure(handle.acknowledged()), failure(drain(handle.events()))];
      await mine.close();
      for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(Error);
      expect((await failure(mine.send("work", 1))) instanceof Error).toBe(true);
    });
  });
});

async function drain(iterable: AsyncIterable<unknown>): Promise<void> {
  for await (const _value of iterable);
}
