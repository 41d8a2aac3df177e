/** events.md, "Retention", tried on a relay that keeps what was taken for a second and what was not for a few. */

import type { Check } from "../check.ts";
import type { Caller, LoggedEvent } from "../stage/caller.ts";
import { readLogLines } from "../stage/log-lines.ts";
import { completed, dead, sent, working } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";

const section = "events.md#retention";
const needs = ["short_lived"] as const;

async function take(by: Caller, id: string): Promise<void> {
  await by.ok("take", { params: { id }, body: {} });
}

/** Waits until retention has dropped it. */
async function gone(t: Stage, sender: Caller, id: string): Promise<void> {
  await t.until(
    "the handoff to be dropped",
    () => sender.call("get", { params: { id } }),
    ({ status }) => status === 404,
    30_000,
  );
}

/** What the log still says of a handoff. */
async function logged(sender: Caller, id: string): Promise<readonly LoggedEvent[]> {
  const lines = readLogLines(await sender.call("log", {}));
  return lines.map(({ event }) => event).filter(({ handoff }) => handoff === id);
}

export const retention: readonly Check[] = [
  {
    id: "KEEP-1",
    promise:
      "What was taken is dropped when its time is over: 404 from then on, and `purged` is the last of its events.",
    section,
    needs,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await completed(pair);
      t.equal((await pair.sender.get(lease.id)).state, "completed", "the state before it was taken");
      await take(pair.sender, lease.id);
      await gone(t, pair.sender, lease.id);
      const events = await logged(pair.sender, lease.id);
      // The log itself may have been cut by then.
      const last = events.at(-1);
      if (last !== undefined)
        t.equal(
          { type: last.type, digest: last["digest"] },
          { type: "purged", digest: lease.digest },
          "the last event",
        );
      await pair.worker.refused("get", { params: { id: lease.id } }, 404, "unknown_handoff");
    },
  },
  {
    id: "KEEP-2",
    promise: "An outcome that was not taken is not dropped with those that were.",
    section,
    needs,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const untaken = await completed(pair, {}, { n: 42 });
      const taken = await completed(pair);
      await take(pair.sender, taken.id);
      await gone(t, pair.sender, taken.id);
      const { outcome } = await pair.sender.get(untaken.id);
      t.equal(outcome?.output, { n: 42 }, "the output of the one that was not taken");
    },
  },
  {
    id: "KEEP-3",
    promise: "An open dead letter is not dropped because it was taken; once it is discarded, it goes like others.",
    section,
    needs,
    features: ["redrive"],
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const letter = await dead(pair);
      await take(pair.sender, letter.id);
      const taken = await completed(pair);
      await take(pair.sender, taken.id);
      await gone(t, pair.sender, taken.id);
      t.equal((await pair.sender.get(letter.id)).dead_letter?.status, "open", "the dead letter");
      await pair.sender.ok("discard", { params: { id: letter.id }, body: {} });
      await gone(t, pair.sender, letter.id);
    },
  },
  {
    id: "KEEP-4",
    promise: "A key outlives the handoff: a retry is still answered with the first id, and other content is 409.",
    section: "ids-and-idempotency.md#submit",
    needs,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair, { idempotency_key: "k" });
      await take(pair.sender, id);
      await gone(t, pair.sender, id);
      const again = await sent(pair, { idempotency_key: "k" });
      const { state, handoff, repeated } = again;
      t.equal(
        { id: again.id, state, handoff, repeated },
        { id, state: "purged", handoff: null, repeated: true },
        "the receipt",
      );
      const body = { capability: pair.capability, input: { n: 2 }, idempotency_key: "k" };
      await pair.sender.refused("submit", { body }, 409, "key_conflict");
    },
  },
  {
    id: "KEEP-5",
    promise: "An id that a dropped handoff had is still taken: 409.",
    section: "ids-and-idempotency.md#ids",
    needs,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      await take(pair.sender, id);
      await gone(t, pair.sender, id);
      const body = { id, capability: pair.capability, input: { n: 2 }, idempotency_key: "another" };
      await pair.sender.refused("submit", { body }, 409, "id_taken");
    },
  },
  {
    id: "KEEP-6",
    promise: "What is open is never dropped.",
    section,
    needs,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const open = await working(pair);
      const taken = await completed(pair);
      const untaken = await completed(pair);
      await take(pair.sender, taken.id);
      await gone(t, pair.sender, taken.id);
      await gone(t, pair.sender, untaken.id);
      t.equal((await pair.sender.get(open.id)).state, "working", "the state of the open one");
      await pair.worker.act("complete", open, { output: 1 });
      await take(pair.sender, open.id);
    },
  },
  {
    id: "KEEP-7",
    promise:
      "A cursor that is too old is answered with 410, a snapshot of what is followed, and a fresh cursor to go on from.",
    section: "events.md#following",
    needs: ["short_lived_restart"],
    over: ["http"],
    run: async (t) => {
      const pair = await t.pair();
      const correlation_id = t.name("group");
      const params = { id: correlation_id };
      const first = await sent(pair, { correlation_id });
      const { cursor } = await pair.sender.ok("correlation_events", { params });
      const lease = await pair.worker.lease();
      await pair.worker.act("complete", lease, { output: 1 });
      await take(pair.sender, first.id);
      await gone(t, pair.sender, first.id);
      const open = await sent(pair, { correlation_id, input: { n: 2 } });
      // A relay may cut its log only now and then; a start is such a moment.
      const parts = { params, query: { cursor } };
      const isCut = async () => (await pair.sender.call("correlation_events", parts)).status === 410;
      for (let restarts = 0; restarts < 2 && !(await isCut()); restarts += 1) {
        await t.pause(1_500);
        await t.restart();
        for (let looks = 0; looks < 10 && !(await isCut()); looks += 1) await t.pause(200);
      }
      const problem: object = await pair.sender.refused("correlation_events", parts, 410, "cursor_too_old");
      const { snapshot, cursor: fresh }: { snapshot?: unknown; cursor?: unknown } = problem;
      const shown = Array.isArray(snapshot) ? snapshot.map(({ id, state }) => ({ id, state })) : snapshot;
      t.equal(shown, [{ id: open.id, state: "queued" }], "the snapshot");
      const next = await pair.worker.lease();
      await pair.worker.act("complete", next, { output: 1 });
      const rest = await pair.sender.ok("correlation_events", { params, query: { cursor: String(fresh) } });
      t.equal(
        rest.events.map(({ type }) => type),
        ["delivered", "acknowledged", "completed"],
        "what follows the fresh cursor",
      );
    },
  },
];
