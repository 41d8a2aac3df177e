/** What a provider is known to have done for an asker while a handoff of that asker under a contract waited for it. */

import { type Handoff, type HandoffEvent, liveLease } from "@handfast/core";
import { type DraftPatch, payload, start } from "@handfast/core/testing";
import { expect, test } from "vitest";
import { AskerWork } from "./asker-work.ts";
import { Bench, holder } from "./testing/bench.ts";

const minute = 60_000;
const for_bob: DraftPatch = { to: "bob", capability: "summarize" };

/** One at a time, for ten minutes: five of them must have been spent on alice. */
function waiting(bench: Bench): Promise<Handoff> {
  return bench.accept({
    ...for_bob,
    contract: { id: "c1", price: null, in_full: true, max_concurrent: 1 },
    terms: { deadline_ms: 10 * minute, attempt_ms: minute },
  });
}

/** Other work of alice, given to bob at once; then the handoff under the contract, which waits. */
async function busy(more: DraftPatch = {}): Promise<{ bench: Bench; other: Handoff; late: Handoff }> {
  const bench = await Bench.open();
  await bench.accept({ ...for_bob, ...more, terms: { deadline_ms: 60 * minute, attempt_ms: 60 * minute } });
  const other = await bench.lease();
  return { bench, other, late: await waiting(bench) };
}

/** What is said of the contract when the deadline has passed. */
async function why(bench: Bench, late: Handoff): Promise<string | null | undefined> {
  await bench.surroundings.advance(late.accepted.deadline_at - bench.engine.now());
  expect(await bench.state(late)).toBe("expired");
  const { events } = await bench.store.events({
    namespace: "default",
    handoff: late.accepted.id,
    after_pos: 0,
    limit: 10,
  });
  const last: HandoffEvent = JSON.parse(events.at(-1)?.json ?? "{}");
  return last.type === "expired" ? last.contract?.why : undefined;
}

async function keepBeating(bench: Bench, held: Handoff, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 20_000) {
    await bench.surroundings.advance(Math.min(left, 20_000));
    await bench.perform(held, { type: "beat", progress: null, ...holder(held) });
  }
}

function failing(held: Handoff) {
  const error = { reason: "broken", message: "It broke." };
  const said = { content: "no", evidence: "signed", usage: null, artifacts: [], output: null } as const;
  return {
    type: "fail",
    ...holder(held),
    worker: "bob-1",
    error,
    retryable: true,
    retry_after_ms: null,
    ...said,
  } as const;
}

test("a provider whose slot the asker's other work filled for half of the time is excused, and for less it is not", async () => {
  for (const [ms, expected] of [
    [5 * minute, "crowded"],
    [5 * minute - 1, "late"],
  ] as const) {
    const { bench, other, late } = await busy();
    await bench.ack(other);
    await keepBeating(bench, other, ms);
    await bench.complete(other);
    expect(await why(bench, late)).toBe(expected);
  }
});

test("work that is still in hand counts", async () => {
  const { bench, other, late } = await busy();
  await bench.ack(other);
  await keepBeating(bench, other, 10 * minute - 1);
  expect(await why(bench, late)).toBe("crowded");
});

test("a provider that fails the asker's other work at once, however often, and then idles is late", async () => {
  const { bench, other, late } = await busy();
  let held = other;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await bench.perform(held, failing(held));
    await bench.surroundings.advance(2 * minute);
    // The contract's handoff is not asked for: only the one that failed is.
    const given = attempt === 3 ? [] : await bench.claim({ queues: () => new Set(["agent:bob"]) });
    held = given[0] ?? held;
  }
  expect((await bench.engine.get("default", other.accepted.id))?.status.state).toBe("failed");
  expect(await why(bench, late)).toBe("late");
});

test.each<[string, (bench: Bench, other: Handoff) => Promise<unknown>]>([
  [
    "released in the end",
    async (bench, other) => {
      await bench.ack(other);
      await keepBeating(bench, other, 6 * minute);
      return bench.perform(other, { type: "release", ...holder(other) });
    },
  ],
  [
    "rejected in the end",
    async (bench, other) => {
      await bench.ack(other);
      await keepBeating(bench, other, 6 * minute);
      return bench.perform(other, { ...failing(other), type: "reject" });
    },
  ],
  [
    "kept while a question was open",
    async (bench, other) => {
      await bench.ack(other);
      await keepBeating(bench, other, 4 * minute);
      const question = `${other.accepted.id}:q`;
      await bench.perform(other, { type: "ask", ...holder(other), question, to: null, answer_ms: null, park: false });
      await keepBeating(bench, other, 4 * minute);
      const actor = { kind: "agent", agent: "alice" } as const;
      const said = { content: "yes", answer: payload("yes"), evidence: "signed", offers: [] } as const;
      await bench.perform(other, { type: "answer", actor, question, ...said });
      await keepBeating(bench, other, minute - 1);
      return bench.complete(other);
    },
  ],
])("what was %s is no work", async (_, ending) => {
  const { bench, other, late } = await busy();
  await ending(bench, other);
  expect(await why(bench, late)).toBe("late");
});

test("a delivery that nobody acknowledged is no work", async () => {
  const { bench, other, late } = await busy({});
  expect(liveLease(other)?.acknowledged_at).toBeNull();
  await bench.surroundings.advance(10 * minute - 1);
  expect(await why(bench, late)).toBe("late");
});

test("work for others is their affair", async () => {
  const { bench, other, late } = await busy({ from: "carol" });
  await bench.ack(other);
  await keepBeating(bench, other, 10 * minute - 1);
  expect(await why(bench, late)).toBe("late");
});

test("of what was accepted before a restart nothing is known", async () => {
  const { bench, late } = await busy();
  await bench.restart();
  expect(await why(bench, late)).toBe("relay_away");
});

test("of many short spells the time is known, too, and what may have been missed is taken for work", async () => {
  const bench = await Bench.open();
  const { accepted } = await waiting(bench);
  let known_until = Number.MAX_SAFE_INTEGER;
  const work = new AskerWork(() => known_until);
  const common = { namespace: "default", correlation_id: "c", causation_id: null, from: "alice", to_agent: "bob" };
  const tell = (id: string, at: number, body: object) =>
    work.note({ ...common, handoff: id, seq: 1, at, capability: "summarize", ...body } as HandoffEvent);
  tell(accepted.id, start, { type: "accepted", contract: "c1" });
  // Half of each 100 ms, for ten minutes; and as much before, which is not looked at.
  for (let nth = -6_000; nth < 6_000; nth += 1) {
    const [id, at] = [`other-${nth}`, start + nth * 100];
    tell(id, at, { type: "delivered", agent: "bob", fence: 1 });
    tell(id, at, { type: "acknowledged", agent: "bob", fence: 1 });
    tell(id, at + 50, { type: "completed", agent: "bob", fence: 1 });
  }
  const handoff = await bench.engine.get("default", accepted.id);
  if (handoff === null) throw new Error("it is gone");
  expect(work.during(handoff, start + 10 * minute)).toBeCloseTo(5 * minute, -3);
  known_until = start + 6 * minute;
  expect(work.during(handoff, start + 10 * minute)).toBeCloseTo(3 * minute + 4 * minute, -3);
});
