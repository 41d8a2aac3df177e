import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, completes, fails, failure } from "./testing/works.ts";

let relay: TestRelay;
let sender: OpenSender;
let worker: TestAgent;
beforeEach(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "work");
  sender = await openSender(relay, "sender");
});
afterEach(async () => {
  await sender.close();
  await relay.stop();
});

async function collected<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of iterable) all.push(each);
  return all;
}

describe("outcomes", () => {
  it("yield what was never taken, each once, with the result at hand; what was taken they do not", async () => {
    const taken = await sender.send("work", 0);
    await completes(worker, () => "taken");
    await taken.result();
    const done = await sender.send("work", 1);
    await completes(worker, () => "done");
    const failed = await sender.send("work", 2);
    await fails(worker);
    await sender.send("work", "still open");
    await sender.settled();
    const found = await collected(sender.outcomes({ follow: false }));
    expect(found.map(({ id, view }) => [id, view.state])).toEqual([
      [done.id, "completed"],
      [failed.id, "failed"],
    ]);
    expect(await found[0]?.result()).toBe("done");
    await sender.settled();
    const left = await collected(sender.outcomes({ follow: false }));
    expect(left.map(({ id }) => id)).toEqual([failed.id]);
  });

  it("go on with what comes, also of handoffs that are older than what was told", async () => {
    const older = await sender.send("work", 1);
    const held = await claimed(worker);
    const newer = await sender.send("work", 2);
    await completes(worker, () => "newer");
    const found: string[] = [];
    for await (const { id } of sender.outcomes()) {
      found.push(id);
      if (id === newer.id) await worker.act(held.id, "complete", { fence: held.fence, output: "older" });
      if (id === older.id) break;
    }
    expect(found).toEqual([newer.id, older.id]);
  });

  it("wait for the first that comes", async () => {
    const iterator = sender.outcomes()[Symbol.asyncIterator]();
    const next = iterator.next();
    const handle = await sender.send("work", 1);
    await completes(worker, () => 1);
    expect((await next).value?.id).toBe(handle.id);
    await iterator.return?.();
  });

  it("take each when the loop comes back for the next, and not the one at which it was left", async () => {
    const [first, second] = [await sender.send("work", 1), await sender.send("work", 2)];
    for (let count = 0; count < 2; count++) await completes(worker, () => 1);
    for await (const { id } of sender.outcomes({ follow: false, take: true })) if (id === second.id) break;
    await sender.settled();
    expect((await first.status()).taken_at).not.toBeNull();
    expect((await second.status()).taken_at).toBeNull();
  });

  it("read more than one page", async () => {
    const scatter = sender.scatter(Array.from({ length: 120 }, (_, input) => ({ capability: "work", input })));
    const handles = await scatter.handles();
    await scatter.cancel();
    const found = await collected(sender.outcomes({ follow: false }));
    expect(found.map(({ id }) => id)).toEqual(handles.map(({ id }) => id));
  });

  it("end with their signal while they wait", async () => {
    const controller = new AbortController();
    const waiting = collected(sender.outcomes({ signal: controller.signal }));
    controller.abort(new Error("home time"));
    expect((await failure(waiting)).message).toBe("home time");
  });
});

describe("questions", () => {
  it("come as they are asked, each once, and are answered", async () => {
    const handle = await sender.send("work", 1);
    const { id, fence } = await claimed(worker);
    const asked = worker.act(id, "ask", { fence, question: "Which colour?", question_id: "colour" });
    for await (const question of sender.questions()) {
      expect(question).toMatchObject({ id: `${id}:colour`, question: "Which colour?", agent: "worker", open: true });
      expect(await sender.answer(question, { colour: "green" })).toMatchObject({ resolution: "answered" });
      break;
    }
    await asked;
    const beat = await worker.act(id, "heartbeat", { fence });
    expect(beat.body.question).toMatchObject({ resolution: "answered", answer: { colour: "green" }, by: "sender" });
    expect(await collected(sender.questions({ follow: false }))).toEqual([]);
    await handle.cancel();
  });

  it("are answered by their id; repeated alike it is the same answer, another one is refused", async () => {
    await sender.send("work", 1);
    const { id, fence } = await claimed(worker);
    await worker.act(id, "ask", { fence, question: "Sure?", question_id: "sure" });
    expect(await sender.answer(`${id}:sure`, true)).toMatchObject({ answer: true, by: "sender" });
    expect(await sender.answer(`${id}:sure`, true)).toMatchObject({ answer: true });
    expect(await failure(sender.answer(`${id}:sure`, false))).toMatchObject({ code: 409 });
  });

  it("refuse an answer that JSON cannot say, before anything is sent", async () => {
    expect((await failure(sender.answer("any", { run: () => 1 }))).message).toContain("The answer cannot be sent");
  });
});
