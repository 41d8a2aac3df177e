/** ids-and-idempotency.md, "Ids" and "Submit". */

import type { Check } from "../check.ts";
import { newId } from "../stage/agent.ts";
import { completed, sent, working } from "../stage/scenes.ts";

const ids_section = "ids-and-idempotency.md#ids";
const submit_section = "ids-and-idempotency.md#submit";
const hour_ms = 60 * 60 * 1_000;
const day_ms = 24 * hour_ms;

export const ids: readonly Check[] = [
  {
    id: "ID-1",
    promise: "A handoff's id is a UUIDv7 in lowercase: anything else is 400.",
    section: ids_section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const upper = newId().toUpperCase();
      const version4 = "9b2f8a52-3c5e-4f0b-9d3a-0123456789ab";
      for (const id of [upper, version4, "7", "", `${newId()} `]) {
        await sender.refused("submit", { body: { id, capability, input: 1 } }, 400);
      }
    },
  },
  {
    id: "ID-2",
    promise: "The time inside an id is at most one hour ahead and not before the dedupe window: 400, id_time.",
    section: ids_section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const now = Date.now();
      for (const at of [now + hour_ms + 60_000, now - 30 * day_ms - 60_000]) {
        await sender.refused("submit", { body: { id: newId(at), capability, input: 1 } }, 400, "id_time");
      }
      for (const at of [now + hour_ms - 60_000, now - 29 * day_ms]) {
        await sender.submit({ id: newId(at), capability, input: 1 });
      }
    },
  },
  {
    id: "ID-3",
    promise: "An id that another handoff has is 409, id_taken.",
    section: ids_section,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const body = { id, capability: pair.capability, input: { n: 1 }, idempotency_key: "another" };
      await pair.sender.refused("submit", { body }, 409, "id_taken");
      const other = await t.agent();
      await other.refused("submit", { body }, 409, "id_taken");
    },
  },
  {
    id: "ID-4",
    promise: "Idempotency keys that begin with `handfast:` are the relay's own: 400, reserved_key.",
    section: ids_section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const body = { capability, input: 1, idempotency_key: `handfast:redrive:${newId()}` };
      await sender.refused("submit", { body }, 400, "reserved_key");
    },
  },
  {
    id: "ID-5",
    promise: "An idempotency key is 1 to 256 code points without control characters.",
    section: ids_section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const submit = (idempotency_key: string) => ({ body: { capability, input: 1, idempotency_key } });
      await sender.ok("submit", submit("🏔".repeat(256)), 202);
      for (const key of ["", "k".repeat(257), "a\nb", "a\u0000b", "\u007f"]) {
        await sender.refused("submit", submit(key), 400);
      }
    },
  },
  {
    id: "ID-6",
    promise: "Keys of different senders never meet.",
    section: ids_section,
    run: async (t) => {
      const pair = await t.pair();
      const other = await t.agent();
      const one = await sent(pair, { idempotency_key: "same" });
      const two = await other.submit({ capability: pair.capability, input: { n: 2 }, idempotency_key: "same" });
      t.that(one.id !== two.id && !two.repeated, "two handoffs", { one: one.id, two: two.id });
    },
  },
  {
    id: "ID-7",
    promise: "Correlation and causation never change: every answer and every event has them as they were accepted.",
    section: ids_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await completed(pair, { correlation_id: "group 7", conversation_id: "talk" });
      const shown = [await pair.sender.get(lease.id), await pair.worker.get(lease.id)];
      for (const { correlation_id, conversation_id, causation } of shown) {
        t.equal(
          { correlation_id, conversation_id, causation },
          { correlation_id: "group 7", conversation_id: "talk", causation: null },
          "the ids",
        );
      }
      for (const event of await pair.sender.events(lease.id)) {
        t.equal(
          [event.type, event.correlation_id, event.handoff],
          [event.type, "group 7", lease.id],
          "the ids of an event",
        );
      }
      const { tree } = await pair.sender.ok("correlation", { params: { id: "group 7" } });
      t.that(
        tree.some(({ handoff }) => handoff.id === lease.id),
        "the handoff in its correlation",
        tree.length,
      );
    },
  },
  {
    id: "ID-8",
    promise: "Events are numbered from 1 without gaps, and their positions in the log grow.",
    section: ids_section,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      await pair.sender.ok("take", { params: { id }, body: {} });
      const events = await pair.sender.events(id);
      t.equal(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
        "seq",
      );
      const positions = events.map(({ pos }) => pos);
      t.that(
        positions.every((pos, index) => index === 0 || pos > (positions[index - 1] ?? 0)),
        "growing positions",
        positions,
      );
    },
  },
  {
    id: "SUBMIT-1",
    promise:
      "An honest retry under the same key is answered as the first time, whatever id, labels, trace or salt it carries.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const first = await sent(pair, { id: newId(), idempotency_key: "k", labels: { try: "1" } });
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const more = { id: newId(), idempotency_key: "k", labels: { try: "2" }, traceparent, priority: 3 };
      const again = await sent(pair, more);
      const same = ({ id, digest, correlation_id, accepted_at, deadline_at }: typeof first) => ({
        ...{ id, digest, correlation_id, accepted_at, deadline_at },
      });
      t.equal(same(again), same(first), "the receipt");
      t.equal([first.repeated, again.repeated], [false, true], "whether they repeat");
      await pair.sender.refused("get", { params: { id: more.id } }, 404, "unknown_handoff");
      t.equal((await pair.worker.claim({ slots: 3 })).length, 1, "how many were made");
    },
  },
  {
    id: "SUBMIT-2",
    promise: "Signed retries draw a new salt and sign anew, and never conflict.",
    section: submit_section,
    features: ["signed"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const first = await sender.ok(
        "submit",
        { body: await sender.signedHandoff({ capability, idempotency_key: "k" }) },
        202,
      );
      const again = await sender.ok(
        "submit",
        { body: await sender.signedHandoff({ capability, idempotency_key: "k" }) },
        202,
      );
      t.equal({ id: again.id, repeated: again.repeated }, { id: first.id, repeated: true }, "the second receipt");
    },
  },
  {
    id: "SUBMIT-3",
    promise:
      "Other content under a known key is 409, key_conflict, and the problem names the handoff that the key stands for.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const first = await sent(pair, { idempotency_key: "k" });
      const others = [
        { input: { n: 2 } },
        { to: worker.name },
        { capability: undefined, to: worker.name },
        { kind: "notice" },
        { ordering_key: "lane" },
        { limits: { deadline_ms: 1_000 } },
        { expects: { output_schema: { type: "number" } } },
        { input: undefined, text: '{"n":1}' },
      ];
      for (const other of others) {
        const body = { capability, input: { n: 1 }, idempotency_key: "k", ...other };
        const problem = await sender.refused("submit", { body }, 409, "key_conflict");
        t.that(problem.detail.includes(first.id), `a detail that names ${first.id}`, problem.detail);
      }
      t.equal((await worker.claim({ slots: 9 })).length, 1, "how many were made");
    },
  },
  {
    id: "SUBMIT-4",
    promise: "The default key is the id: the same submit again is one handoff.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const id = newId();
      await sent(pair, { id });
      t.equal((await sent(pair, { id })).repeated, true, "whether the second repeats");
      const body = { id, capability: pair.capability, input: { n: 2 } };
      await pair.sender.refused("submit", { body }, 409, "key_conflict");
    },
  },
  {
    id: "SUBMIT-5",
    promise: "A repeated submit is answered before any other check: also when nobody offers the target any more.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const first = await sent(pair, { idempotency_key: "k" });
      await t.register(pair.worker.name, pair.worker.key, []);
      await pair.sender.refused(
        "submit",
        { body: { capability: pair.capability, input: { n: 9 } } },
        406,
        "nobody_offers",
      );
      t.equal((await sent(pair, { idempotency_key: "k" })).id, first.id, "the id that the repeat is answered with");
    },
  },
  {
    id: "SUBMIT-6",
    promise: "A repeated child is answered as the first time, also when its parent has ended or the budget is spent.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const parent = await working(pair, { budget: { handoffs: 1 } });
      const causation = { id: parent.id, fence: parent.fence };
      const body = { capability: pair.capability, input: 2, causation, idempotency_key: "child", detached: true };
      const first = await pair.worker.submit(body);
      t.equal((await pair.worker.submit(body)).id, first.id, "the id, with the budget spent");
      await pair.worker.act("complete", parent, { output: 1 });
      t.equal((await pair.worker.submit(body)).id, first.id, "the id, with the parent ended");
    },
  },
  {
    id: "SUBMIT-7",
    promise: "A refused submit leaves nothing behind: its key and its id are still free.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const id = newId();
      const body = { id, capability: t.name("nobody"), input: 1, idempotency_key: "k" };
      await pair.sender.refused("submit", { body }, 406, "nobody_offers");
      const receipt = await sent(pair, { id, idempotency_key: "k" });
      t.equal({ id: receipt.id, repeated: receipt.repeated }, { id, repeated: false }, "the receipt");
    },
  },
  {
    id: "SUBMIT-8",
    promise: "A batch is atomic: if one handoff is refused, none is accepted, and the answer says which and why.",
    section: submit_section,
    features: ["batch"],
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const good = (n: number) => ({ id: newId(), capability, input: n });
      const bad = { id: newId(), capability: t.name("nobody"), input: 1 };
      const handoffs = [good(1), good(2), bad, good(3)];
      const problem: object = await sender.refused("submit_batch", { body: { handoffs } }, 406);
      const { refusals }: { refusals?: unknown } = problem;
      const told = Array.isArray(refusals) ? refusals.map(({ index, code }) => ({ index, code })) : refusals;
      t.equal(told, [{ index: 2, code: 406 }], "the refusals");
      for (const { id } of handoffs) await sender.refused("get", { params: { id } }, 404, "unknown_handoff");
      t.equal(await worker.claim({ slots: 9 }), [], "what is delivered of it");
    },
  },
  {
    id: "SUBMIT-9",
    promise: "A batch that is accepted is accepted whole, and repeated as a whole it is answered as the first time.",
    section: submit_section,
    features: ["batch"],
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const handoffs = [1, 2, 3].map((n) => ({ id: newId(), capability, input: n }));
      const first = await sender.ok("submit_batch", { body: { handoffs } }, 202);
      t.equal(
        first.receipts.map(({ id }) => id),
        handoffs.map(({ id }) => id),
        "the receipts",
      );
      const again = await sender.ok("submit_batch", { body: { handoffs } }, 202);
      t.equal(
        again.receipts.map(({ id, repeated }) => ({ id, repeated })),
        handoffs.map(({ id }) => ({ id, repeated: true })),
        "the receipts again",
      );
      t.equal((await worker.claim({ slots: 9 })).length, 3, "how many are delivered");
    },
  },
  {
    id: "SUBMIT-10",
    promise: "Two submits under one key at the same moment make one handoff.",
    section: submit_section,
    run: async (t) => {
      const pair = await t.pair();
      const other = t.again(pair.sender);
      const body = { capability: pair.capability, input: { n: 1 }, idempotency_key: "k" };
      const receipts = await Promise.all([pair.sender, other, pair.sender, other].map((each) => each.submit(body)));
      t.equal(new Set(receipts.map(({ id }) => id)).size, 1, "how many ids were given");
      t.equal(receipts.filter(({ repeated }) => !repeated).length, 1, "how many were the first");
    },
  },
];
