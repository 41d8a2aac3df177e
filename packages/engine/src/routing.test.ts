/** How work finds its agent, in an engine on a real store: what is held back, for how long, and what it costs to hold it. */

import { type Handoff, liveLease, type Standing, unmeasured } from "@handfast/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { engineLimits } from "./limits.ts";
import type { Claim } from "./requests.ts";
import { Bench } from "./testing/bench.ts";

const minute = 60_000;
let bench: Bench;
/** What is known of each agent, beside nothing. */
let known: Map<string, Partial<Standing>>;

beforeEach(async () => {
  known = new Map();
  bench = await Bench.open({ standing: (_, agent) => ({ ...unmeasured, ...known.get(agent) }) });
});
afterEach(() => expect(bench.bugs).toEqual([]));

/** A claim that waits; `given` is what it got so far. */
function waits(agent: string, patch: Partial<Claim> = {}): { given: readonly Handoff[] | null } {
  const waiting: { given: readonly Handoff[] | null } = { given: null };
  void bench.claim({ agent, worker: `${agent}-1`, wait_ms: 10 * minute, ...patch }).then((leases) => {
    waiting.given = leases;
  });
  return waiting;
}
const advance = (ms: number) => bench.surroundings.advance(ms);
const rest = () => bench.surroundings.rest();
const fail = (handoff: Handoff) =>
  bench.perform(handoff, {
    type: "fail",
    agent: liveLease(handoff)?.agent ?? "",
    fence: handoff.fence,
    worker: liveLease(handoff)?.worker ?? "",
    error: { reason: "trouble", message: "no" },
    output: null,
    retryable: true,
    retry_after_ms: null,
    content: "failed",
    evidence: "signed",
    usage: null,
    artifacts: [],
  });

test("a breached agent waits for a while where another that lives is busy, then gets it", async () => {
  known.set("bob", { breached: true });
  const busy = await bench.accept().then(() => bench.lease({ agent: "carol", worker: "carol-1" }));
  await bench.ack(busy);
  const bob = waits("bob");
  await rest();
  await bench.accept();
  await rest();
  expect(bob.given).toBeNull();
  await advance(9_000);
  expect(bob.given).toBeNull();
  // Nobody asks for anything meanwhile: time alone must bring it.
  await advance(3_000);
  expect(bob.given?.[0]?.why).toEqual({ rule: "no_other", among: 1 });
});

test.each<[string, Partial<Standing>, Parameters<typeof bench.accept>[0], string]>([
  ["the agent that served its conversation", {}, { conversation_id: "chat" }, "only"],
  ["those in the range that a route put it under", { version: "1.0.0" }, { canary: "2.x" }, "only"],
  ["a sound agent", { breached: true }, {}, "no_other"],
])("work is held back for %s for no more than a quarter of its time", async (_, standing, asked, rule) => {
  known.set("bob", { version: "2.0.0" });
  known.set("carol", standing);
  const busy = await bench.accept({ conversation_id: "chat" }).then(() => bench.lease());
  await bench.ack(busy);
  const carol = waits("carol");
  await rest();
  const next = await bench.accept({ ...asked, terms: { deadline_ms: 8_000 } });
  await advance(1_500);
  expect(carol.given).toBeNull();
  // Nobody asks for anything meanwhile, and long before the deadline.
  await advance(2_000);
  expect(carol.given?.[0]).toMatchObject({ accepted: { id: next.accepted.id }, why: { rule } });
});

test("what a breached agent may not have goes to the sound one as soon as that has a slot", async () => {
  known.set("bob", { breached: true });
  const busy = await bench.accept().then(() => bench.lease({ agent: "carol", worker: "carol-1" }));
  const bob = waits("bob");
  await rest();
  const next = await bench.accept();
  const carol = waits("carol");
  await rest();
  expect([bob.given, carol.given?.[0]?.accepted.id]).toEqual([null, next.accepted.id]);
  expect(await bench.state(busy)).toBe("delivered");
});

test("an agent whose ejection is over gets work again without anybody asking anew", async () => {
  known.set("bob", { ejected: true });
  await bench.accept().then(() => bench.lease({ agent: "carol", worker: "carol-1" }));
  const bob = waits("bob");
  await rest();
  await bench.accept();
  await rest();
  known.delete("bob");
  await advance(2_000);
  expect(bob.given).toHaveLength(1);
});

test("no more leases than an agent takes at a time, and the end of one brings the next in the same commit", async () => {
  known.set("bob", { max_concurrent: 1 });
  for (let n = 0; n < 3; n += 1) await bench.accept();
  const [one] = await bench.claim({ slots: 3 });
  if (one === undefined) throw new Error("nothing was leased");
  const waiting = waits("bob", { worker: "bob-2" });
  await rest();
  expect(waiting.given).toBeNull();
  const before = bench.commits.length;
  await bench.complete(one);
  expect(waiting.given).toHaveLength(1);
  expect(bench.commits.length - before).toBe(1);
});

test("what an agent holds is known after a restart", async () => {
  known.set("bob", { max_concurrent: 1 });
  for (let n = 0; n < 2; n += 1) await bench.accept();
  await bench.lease();
  await bench.restart();
  expect(await bench.claim({ worker: "bob-2" })).toEqual([]);
});

test("a queue is not read for an agent that has no room", async () => {
  known.set("bob", { max_concurrent: 1 });
  for (let n = 0; n < 50; n += 1) await bench.accept();
  await bench.lease();
  waits("bob", { worker: "bob-2" });
  await rest();
  bench.looks.length = 0;
  for (let n = 0; n < 10; n += 1) await bench.accept({ capability: "other" });
  expect(bench.looks.filter(([queue]) => queue === "capability:summarize")).toEqual([]);
});

test("a deep queue that is held back is read far once in a while, not for every batch", async () => {
  known.set("bob", { breached: true });
  await bench.accept().then(() => bench.lease({ agent: "carol", worker: "carol-1" }));
  for (let n = 0; n < 300; n += 1) await bench.accept();
  waits("bob");
  await rest();
  bench.looks.length = 0;
  for (let n = 0; n < 20; n += 1) await bench.accept({ capability: "other" });
  // One short look for each batch, instead of one that goes on to the end of the queue.
  expect(bench.looks.length).toBeLessThanOrEqual(20);
});

test("a failed attempt goes to another agent, also one that is busy for a while, then to the same again", async () => {
  await bench.accept();
  const [bob, carol] = [await bench.lease(), waits("carol")];
  await fail(bob);
  const again = waits("bob");
  await advance(1_500);
  expect(carol.given?.[0]).toMatchObject({ accepted: { id: bob.accepted.id }, why: { rule: "elsewhere" } });
  const [second] = carol.given ?? [];
  if (second === undefined) throw new Error("nothing was leased");
  await fail(second);
  await advance(2_500);
  expect(again.given?.[0]?.accepted.id).toBe(bob.accepted.id);
});

test("a failed attempt goes to the same agent at once where there is no other", async () => {
  await bench.accept();
  const first = await bench.lease();
  const again = waits("bob");
  await fail(first);
  await advance(1_500);
  expect(again.given?.[0]?.fence).toBe(2);
});

test("a conversation waits a while for the agent that served it, then goes to anybody", async () => {
  const first = await bench.accept({ conversation_id: "chat" }).then(() => bench.lease());
  await bench.ack(first);
  const carol = waits("carol");
  await rest();
  await bench.accept({ conversation_id: "chat" });
  await advance(9_000);
  expect(carol.given).toBeNull();
  await advance(2_500);
  expect(carol.given).toHaveLength(1);
});

test("a conversation goes to another at once where the agent that served it is gone, and stays there", async () => {
  const first = await bench.accept({ conversation_id: "chat" }).then(() => bench.lease());
  await bench.complete(first);
  await advance(engineLimits.worker_silent_ms + 1_000);
  const [carol, dave] = [waits("carol"), waits("dave")];
  await rest();
  await bench.accept({ conversation_id: "chat" });
  await rest();
  const [one] = [...(carol.given ?? []), ...(dave.given ?? [])];
  if (one === undefined) throw new Error("nobody got it");
  const { agent = "" } = liveLease(one) ?? {};
  await bench.complete(one);
  const same = waits(agent);
  await rest();
  await bench.accept({ conversation_id: "chat" });
  await rest();
  expect(same.given?.[0]?.why?.rule).toBe("conversation");
});

test("conversations stay with their agent across a failed commit and a restart", async () => {
  const first = await bench.accept({ conversation_id: "chat" }).then(() => bench.lease());
  await bench.complete(first);
  bench.failNextCommit("before");
  await bench.accept().catch(() => {});
  for (const again of [async () => {}, () => bench.restart()]) {
    await again();
    const [carol, bob] = [waits("carol"), waits("bob")];
    await rest();
    await bench.accept({ conversation_id: "chat" });
    await rest();
    expect([carol.given, bob.given?.[0]?.why?.rule]).toEqual([null, "conversation"]);
    const [one] = bob.given ?? [];
    if (one !== undefined) await bench.complete(one);
    // Carol's claim has waited since: a handoff of its own ends it.
    await bench.accept({ to: "carol" });
    await rest();
  }
});

test("the same capability of another conversation, and another capability of the same, are free to go anywhere", async () => {
  const first = await bench.accept({ conversation_id: "chat" }).then(() => bench.lease());
  await bench.ack(first);
  const queues = () => new Set(["capability:summarize", "capability:other"]);
  const carol = waits("carol", { queues, slots: 2 });
  await rest();
  await bench.engine.submit([
    bench.submission({ conversation_id: "another" }),
    bench.submission({ conversation_id: "chat", capability: "other" }),
  ]);
  await rest();
  expect(carol.given).toHaveLength(2);
});

test("a handoff for a range of versions waits until somebody offers it", async () => {
  known.set("bob", { version: "1.4.0" });
  const bob = waits("bob");
  await rest();
  await bench.accept({ version_range: "^2" });
  await advance(5_000);
  expect(bob.given).toBeNull();
  known.set("bob", { version: "2.0.0" });
  await advance(2_000);
  expect(bob.given).toHaveLength(1);
});

test("work that nobody can finish in time is given to nobody, and expires", async () => {
  known.set("bob", { p50_ms: 60_001 });
  const bob = waits("bob");
  await rest();
  const handoff = await bench.accept({ terms: { deadline_ms: minute } });
  await advance(minute + 1_000);
  expect([bob.given, await bench.state(handoff)]).toEqual([null, "expired"]);
});

test.each([
  ["whose connection breaks", (gone: AbortController) => gone.abort()],
  ["that takes its claim back", () => bench.claim({ agent: "carol", worker: "carol-1", request_id: "one" })],
  [
    "that gives up waiting, and then takes its claim back",
    (gone: AbortController) => {
      gone.abort();
      return bench.claim({ agent: "carol", worker: "carol-1", request_id: "one" });
    },
  ],
])("a sound agent %s is soon not waited for any more, unless it comes back", async (_, leave) => {
  known.set("bob", { breached: true });
  for (const comes_back of [true, false]) {
    const gone = new AbortController();
    waits("carol", { signal: gone.signal, request_id: "one" });
    const bob = waits("bob");
    await rest();
    await leave(gone);
    const handoff = await bench.accept();
    await advance(engineLimits.worker_left_ms - 1_000);
    expect(bob.given).toBeNull();
    if (comes_back) waits("carol");
    await advance(3_000);
    expect(bob.given?.[0]?.accepted.id).toBe(comes_back ? undefined : handoff.accepted.id);
    // Bob's claim has waited since: a handoff of its own ends it.
    await bench.accept({ to: "bob" });
    await rest();
  }
});
