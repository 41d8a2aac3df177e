import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { UsageError } from "../errors.ts";
import { ScatterError } from "./faults.ts";
import type { Task } from "./options.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, completes, fails, failure, type Work } from "./testing/works.ts";

let relay: TestRelay;
let sender: OpenSender;
let worker: TestAgent;
beforeEach(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "square");
  sender = await openSender(relay, "sender");
});
afterEach(async () => {
  await sender.close();
  await relay.stop();
});

const tasks = (count: number): Task[] => Array.from({ length: count }, (_, input) => ({ capability: "square", input }));
const square = (input: unknown) => Number(input) ** 2;
const states = async (handles: readonly { status(): Promise<{ state: string }> }[]) =>
  Promise.all(handles.map(async (handle) => (await handle.status()).state));

/** Claims so many before any of them ends. */
async function held(count: number): Promise<Work[]> {
  const works: Work[] = [];
  for (let each = 0; each < count; each++) works.push(await claimed(worker));
  return works;
}

const complete = ({ id, fence, input }: Work) => worker.act(id, "complete", { fence, output: square(input) });

describe("all", () => {
  it("matches ten answers to ten tasks, in whatever order they come", async () => {
    const scatter = sender.scatter<number>(tasks(10));
    const outputs = scatter.all();
    for (const work of (await held(10)).reverse()) await complete(work);
    expect(await outputs).toEqual([0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
    await sender.settled();
    const views = await Promise.all((await scatter.handles()).map((handle) => handle.status()));
    expect(views.map(({ taken_at }) => taken_at === null)).not.toContain(true);
    expect(new Set(views.map(({ correlation_id }) => correlation_id))).toEqual(new Set([scatter.correlation]));
  });

  it("rejects with the first failure, cancels what is open, and leaves what was completed to be found", async () => {
    const scatter = sender.scatter<number>(tasks(3));
    const outputs = failure(scatter.all());
    const done = await completes(worker, square);
    await fails(worker, "Two is too many.");
    expect(await outputs).toMatchObject({ code: 500, handoff: (await scatter.handles())[1]?.id });
    expect((await outputs).message).toContain("Two is too many.");
    await sender.settled();
    expect(await states(await scatter.handles())).toEqual(["completed", "failed", "canceled"]);
    expect((await sender.handle(done).status()).taken_at).toBeNull();
  });

  it("cancels nothing when asked to keep", async () => {
    const scatter = sender.scatter<number>(tasks(2), { keep: true });
    const outputs = failure(scatter.all());
    await fails(worker);
    await outputs;
    await sender.settled();
    expect(await states(await scatter.handles())).toEqual(["failed", "queued"]);
    await scatter.cancel();
  });

  it("of no tasks is nothing", async () => expect(await sender.scatter([]).all()).toEqual([]));
});

describe("any", () => {
  it("is the first that succeeds, after failures too; the rest is canceled", async () => {
    const scatter = sender.scatter<number>(tasks(4));
    const first = scatter.any();
    await fails(worker);
    await fails(worker);
    await completes(worker, square);
    expect(await first).toBe(4);
    await sender.settled();
    expect(await states(await scatter.handles())).toEqual(["failed", "failed", "completed", "canceled"]);
  });

  it("rejects with every failure when all have failed", async () => {
    const first = failure(sender.scatter(tasks(2)).any());
    await fails(worker, "one");
    await fails(worker, "two");
    const error = await first;
    expect(error).toBeInstanceOf(ScatterError);
    expect((error as unknown as ScatterError).errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("one"),
      expect.stringContaining("two"),
    ]);
  });
});

describe("quorum", () => {
  it("is the first so many outputs; the rest is canceled and taken", async () => {
    const scatter = sender.scatter<number>(tasks(4));
    const two = scatter.quorum(2);
    const [, second, third] = await held(3);
    if (third !== undefined) await complete(third);
    await expect.poll(async () => (await scatter.handles())[2]?.view?.state).toBe("completed");
    if (second !== undefined) await complete(second);
    expect(await two).toEqual([4, 1]);
    await sender.settled();
    const handles = await scatter.handles();
    expect(await states(handles)).toEqual(["canceled", "completed", "completed", "canceled"]);
    const views = await Promise.all(handles.map((handle) => handle.status()));
    expect(views.map(({ taken_at }) => taken_at === null)).toEqual([false, false, false, false]);
  });

  it("rejects as soon as it is impossible, without waiting for the rest", async () => {
    const scatter = sender.scatter(tasks(3));
    const two = failure(scatter.quorum(2));
    await fails(worker);
    await fails(worker);
    expect(await two).toBeInstanceOf(ScatterError);
    await sender.settled();
    expect(await states(await scatter.handles())).toEqual(["failed", "failed", "canceled"]);
  });

  it("rejects at once where there are fewer tasks than are to succeed", async () => {
    const scatter = sender.scatter(tasks(1));
    expect((await failure(scatter.quorum(2))).message).toContain("2 of 1 tasks");
    expect((await failure(scatter.quorum(0))).message).toContain("A quorum of 0");
    await scatter.cancel();
  });
});

describe("settled", () => {
  it("tells what became of each, in the order of the tasks", async () => {
    const scatter = sender.scatter<number>(tasks(2));
    await fails(worker);
    await completes(worker, square);
    expect(await scatter.settled()).toMatchObject([
      { status: "failed", index: 0, error: { code: 500 } },
      { status: "completed", index: 1, output: 1 },
    ]);
  });

  it("gives what there is at the timeout, and lets the rest go on", async () => {
    const scatter = sender.scatter<number>(tasks(2));
    await completes(worker, square);
    await (await scatter.handles())[0]?.outcome({ take: false });
    expect(await scatter.settled({ timeout: "100ms" })).toMatchObject([
      { status: "completed", output: 0 },
      { status: "open", index: 1 },
    ]);
    expect(await states(await scatter.handles())).toEqual(["completed", "queued"]);
    await scatter.cancel();
  });

  it("tells of those that expired at their own deadline", async () => {
    const scatter = sender.scatter<number>([
      { capability: "square", input: 3 },
      { capability: "square", input: 4, timeout: 200 },
    ]);
    await completes(worker, square);
    expect(await scatter.settled()).toMatchObject([
      { status: "completed", output: 9 },
      { status: "failed", error: { code: 408 } },
    ]);
  });
});

describe("as they come", () => {
  it("yields each when it ends, with its place", async () => {
    const scatter = sender.scatter<number>(tasks(3));
    const [first, second, third] = await held(3);
    const order: number[] = [];
    const next = [first, second];
    if (third !== undefined) await complete(third);
    for await (const each of scatter) {
      order.push(each.index);
      const work = next.pop();
      if (work !== undefined) await complete(work);
    }
    expect(order).toEqual([2, 1, 0]);
    await sender.settled();
    expect((await (await scatter.handles())[0]?.status())?.taken_at).not.toBeNull();
  });

  it("cancels nothing when the loop is left", async () => {
    const scatter = sender.scatter<number>(tasks(2));
    await completes(worker, square);
    for await (const { index } of scatter) {
      expect(index).toBe(0);
      break;
    }
    expect(await states(await scatter.handles())).toEqual(["completed", "queued"]);
    await scatter.cancel();
  });
});

describe("a scatter", () => {
  it("is accepted whole or not at all, and says which task stood in the way", async () => {
    const scatter = sender.scatter([...tasks(2), { capability: "nobody_has_this", input: 1 }]);
    const error = await failure(scatter.all());
    expect(error).toMatchObject({ code: 406 });
    expect(error.message).toContain("Task 2 of the scatter was refused");
    expect(await failure(sender.gather(scatter.correlation).handles() as Promise<unknown>)).toMatchObject({
      code: 404,
    });
  });

  it("repeated with its key is the same one", async () => {
    const once = sender.scatter(tasks(2), { idempotencyKey: "nightly" });
    const again = sender.scatter(tasks(2), { idempotencyKey: "nightly" });
    const ids = async (scatter: typeof once) => (await scatter.handles()).map(({ id }) => id);
    expect(await ids(again)).toEqual(await ids(once));
    expect(again.correlation).toBe(once.correlation);
    await once.cancel();
  });

  it("of more than a thousand goes in batches, and what was accepted is canceled when a later one is refused", async () => {
    const many = [...tasks(1_000), { capability: "nobody_has_this", input: 1 }];
    const scatter = sender.scatter(many);
    expect((await failure(scatter.all())).message).toContain("Task 1000 of the scatter was refused");
    await sender.settled();
    const { summary } = await sender.base.link.call("correlation", { params: { id: scatter.correlation } });
    expect(summary.by_state).toEqual({ canceled: 1_000 });
  });

  it("ends its waits by its signal, and cancels nothing", async () => {
    const controller = new AbortController();
    const scatter = sender.scatter(tasks(1), { signal: controller.signal });
    const [handle] = await scatter.handles();
    const outputs = failure(scatter.all());
    controller.abort(new Error("stop"));
    expect((await outputs).message).toBe("stop");
    expect((await handle?.status())?.state).toBe("queued");
    await handle?.cancel();
  });

  it.each([
    ["null in place of its tasks", () => sender.scatter(null as never), /tasks of the scatter are null/],
    ["a task that is none", () => sender.scatter([null as never]).handles(), /Task 0 of the scatter is null/],
    ["artifacts that are none", () => sender.send("square", 1, { artifacts: 5 as never }), /artifacts is 5/],
    ["an artifact that is none", () => sender.send("square", 1, { artifacts: [null as never] }), /null is no artifact/],
    ["a correlation that is none", () => sender.gather(5n as never), /5n is no correlation/],
    ["a question that is none", () => sender.answer(null as never, 1), /null is no question/],
    ["an id that is none", () => sender.handle(5n as never), /5n is no id/],
  ])("says what is wrong with %s", async (_what, act, message) => {
    await expect((async () => act())()).rejects.toThrow(UsageError);
    await expect((async () => act())()).rejects.toThrow(message);
  });

  it("refuses a task that cannot be sent before any is", async () => {
    const error = await failure(sender.scatter([...tasks(1), { capability: "square", input: 1n }]).all());
    expect(error.message).toContain("BigInt");
  });
});

describe("gather", () => {
  it("finds a scatter again after a restart, in order, by another client with the same key", async () => {
    const before = sender.scatter<number>(tasks(3));
    await before.handles();
    await completes(worker, square);
    const restarted = await openSender(relay, "sender", { key: sender.key });
    const scatter = restarted.gather<number>(before.correlation);
    const outputs = scatter.all();
    await completes(worker, square);
    await completes(worker, square);
    expect(await outputs).toEqual([0, 1, 4]);
    await restarted.close();
    expect((await (await before.handles())[2]?.status())?.taken_at).not.toBeNull();
  });

  it("takes a redrive in the place of the dead letter", async () => {
    const scatter = sender.scatter<number>(tasks(2), { keep: true });
    await fails(worker);
    const [dead] = await scatter.handles();
    await dead?.outcome();
    await sender.base.link.call("redrive", { params: { id: dead?.id ?? "" }, body: {} });
    const outputs = sender.gather<number>(scatter.correlation).all();
    await completes(worker, square);
    await completes(worker, square);
    expect(await outputs).toEqual([0, 1]);
  });

  it("rejects an unknown correlation", async () => {
    expect(await failure(sender.gather("never-heard").all())).toMatchObject({
      code: 404,
      reason: "unknown_correlation",
    });
  });
});
