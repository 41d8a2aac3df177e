/** handoffs.md, "After the end": taking, dead letters, redrives, routing. */

import { parseJson } from "../broken.ts";
import type { Check } from "../check.ts";
import { completed, dead, failure, sent, working } from "../stage/scenes.ts";

const section = "handoffs.md#after-the-end";
const redrive = ["redrive"];
/** Under this name an unedited redrive carries the sender's own document. */
const original = "https://handfast.dev/ext/redriven-document";

export const afterTheEnd: readonly Check[] = [
  {
    id: "AFTER-1",
    promise: "Reading is not taking: an outcome is untaken until its sender takes it.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      t.equal((await pair.sender.get(id)).taken_at, null, "taken_at after reading");
      t.equal((await pair.sender.get(id, { proofs: true, input: true })).taken_at, null, "taken_at after reading all");
      const { taken_at } = await pair.sender.ok("take", { params: { id }, body: {} });
      t.that(taken_at !== null, "a time in taken_at", taken_at);
      t.equal((await pair.sender.eventTypes(id)).at(-1), "taken", "the last event");
    },
  },
  {
    id: "AFTER-2",
    promise: "A sender that lost its ids finds its untaken outcomes, oldest first; what was taken is gone from there.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const done = [await completed(pair), await dead(pair), await completed(pair)];
      await sent(pair);
      const list = async () => (await pair.sender.ok("outcomes", {})).handoffs.map(({ id }) => id);
      t.equal(
        await list(),
        done.map(({ id }) => id),
        "the untaken outcomes",
      );
      const [first] = done;
      await pair.sender.ok("take", { params: { id: first?.id ?? "" }, body: {} });
      t.equal(
        await list(),
        done.slice(1).map(({ id }) => id),
        "the untaken outcomes after one was taken",
      );
      const { handoffs } = await pair.sender.ok("outcomes", {});
      t.that(
        handoffs.every(({ outcome }) => outcome !== null),
        "outcomes in the list",
        handoffs,
      );
    },
  },
  {
    id: "AFTER-3",
    promise: "What fails, is rejected or expires is a dead letter; what is completed or canceled is none.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const failed = await dead(pair);
      const rejected = await working(pair);
      await pair.worker.act("reject", rejected, { error: failure });
      const { id: expired } = await sent(pair, { limits: { deadline_ms: 300 } });
      await pair.sender.ended(expired);
      const done = await completed(pair);
      const { id: canceled } = await sent(pair);
      await pair.sender.ok("cancel", { params: { id: canceled }, body: {} });
      const { dead_letters } = await pair.sender.ok("dead_letters", {});
      const ids = dead_letters.map(({ id }) => id);
      t.equal(ids.toSorted(), [failed.id, rejected.id, expired].toSorted(), "the dead letters");
      for (const id of [done.id, canceled]) {
        t.equal((await pair.sender.get(id)).dead_letter, null, "dead_letter of what is none");
        await pair.sender.refused("dead_letter", { params: { id } }, 404);
      }
    },
  },
  {
    id: "AFTER-4",
    promise: "A dead letter is kept with its input, every attempt, the reason and late outcomes.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const first = await working(pair, { input: { secret: "of the dead" }, limits: { max_attempts: 2 } });
      await pair.worker.act("fail", first, { error: failure, retryable: true });
      const second = await pair.worker.lease();
      await pair.worker.act("release", second);
      const third = await pair.worker.lease();
      await pair.worker.act("fail", third, { error: { ...failure, reason: "again" }, retryable: true });
      await pair.worker.refusedAct("complete", second, { output: "late" }, 412, "lease_lost");
      const letter = await pair.sender.ok("dead_letter", { params: { id: first.id } });
      t.equal(letter.input, { secret: "of the dead" }, "the input");
      t.equal({ code: letter.reason.code, reason: letter.reason.reason }, { code: 500, reason: "again" }, "the reason");
      t.equal(
        letter.handoff.failures.map(({ fence }) => fence),
        [1, 3],
        "the failed attempts",
      );
      t.equal(
        letter.handoff.late.map(({ outcome }) => outcome.output),
        ["late"],
        "late outcomes",
      );
      t.equal(letter.events.at(0)?.type, "accepted", "the first event of its history");
    },
  },
  {
    id: "AFTER-5",
    promise:
      "A redrive is a new handoff, linked to the old one, with the same payload; its outcome goes to the sender.",
    section,
    features: redrive,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const old = await dead(pair, { input: { n: 7 }, correlation_id: "the group" });
      const { redriven_as } = await sender.ok("redrive", { params: { id: old.id }, body: {} }, 202);
      const before = await sender.get(old.id);
      t.equal(
        { status: before.dead_letter?.status, id: before.dead_letter?.id },
        { status: "redriven", id: redriven_as },
        "the old one",
      );
      t.equal((await sender.event(old.id, "redriven"))["to"], redriven_as, "to, in the event `redriven`");
      const view = await sender.get(redriven_as);
      const { redrive_of, from, correlation_id, payload } = view;
      const wanted = { redrive_of: old.id, from: sender.name, correlation_id: "the group", payload: old.payload };
      t.equal({ redrive_of, from, correlation_id, payload }, wanted, "the new one");
      const lease = await worker.lease();
      t.equal(lease.input, { n: 7 }, "the input of the new one");
      const carried = lease.ext?.[original];
      t.that(JSON.stringify(carried ?? null).includes(old.id), "the sender's own document under `ext`", carried);
      await worker.act("complete", lease, { output: "at last" });
      t.equal((await sender.get(redriven_as)).outcome?.output, "at last", "the outcome");
    },
  },
  {
    id: "AFTER-6",
    promise: "A second redrive returns the first one's id and makes no second handoff.",
    section,
    features: redrive,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await dead(pair);
      const [one, two] = await Promise.all([
        pair.sender.ok("redrive", { params: { id }, body: {} }, 202),
        pair.sender.ok("redrive", { params: { id }, body: {} }, 202),
      ]);
      const three = await pair.sender.ok("redrive", { params: { id }, body: { input: { other: true } } }, 202);
      t.equal([two.redriven_as, three.redriven_as], [one.redriven_as, one.redriven_as], "the ids");
      t.equal(three.repeated, true, "whether the third says that it repeats");
      const leases = await pair.worker.claim({ slots: 5 }, 2_000);
      t.equal(
        leases.map((lease) => lease.id),
        [one.redriven_as],
        "what is delivered",
      );
      t.equal((await pair.sender.eventTypes(id)).filter((type) => type === "redriven").length, 1, "events `redriven`");
    },
  },
  {
    id: "AFTER-7",
    promise: "A redrive by an operator is on behalf of the sender, may be edited, and its outcome goes to the sender.",
    section,
    features: redrive,
    needs: ["operator"],
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await dead(pair);
      const parts = { params: { id }, body: { input: { n: "edited" } } };
      const { redriven_as } = await t.operator().ok("redrive", parts, 202);
      const lease = await pair.worker.lease({ proofs: true });
      t.equal(
        { id: lease.id, input: lease.input, from: lease.from },
        { id: redriven_as, input: { n: "edited" }, from: pair.sender.name },
        "the lease",
      );
      const document = parseJson(lease.signed?.document ?? "{}", "a document");
      const { on_behalf_of, redrive_of }: { on_behalf_of?: unknown; redrive_of?: unknown } = Object(document);
      t.equal({ on_behalf_of, redrive_of }, { on_behalf_of: pair.sender.name, redrive_of: id }, "the document");
      await pair.worker.act("complete", lease, { output: 1 });
      const { handoffs } = await pair.sender.ok("outcomes", {});
      t.that(
        handoffs.some((handoff) => handoff.id === redriven_as),
        "the outcome among the sender's own",
        handoffs.length,
      );
    },
  },
  {
    id: "AFTER-8",
    promise: "A bulk redrive runs the fixed set that its dry run showed, and running it twice changes nothing.",
    section,
    features: redrive,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, capability } = pair;
      const [one, two] = [await dead(pair), await dead(pair)];
      const dry = await sender.ok("redrive_many", { body: { dry_run: true, filter: { capability } } });
      t.equal({ count: dry.count, isPlan: "ids" in dry }, { count: 2, isPlan: true }, "the dry run");
      t.equal((await sender.get(one.id)).dead_letter?.status, "open", "a dead letter after the dry run");
      const later = await dead(pair);
      const run = await sender.ok("redrive_many", { body: { plan: dry.plan } });
      t.equal("redriven" in run && run.redriven, 2, "how many were redriven");
      const again = await sender.ok("redrive_many", { body: { plan: dry.plan } });
      const counted = "redriven" in again ? { redriven: again.redriven, already: again.already_redriven } : again;
      t.equal(counted, { redriven: 0, already: 2 }, "how many were redriven the second time");
      t.equal((await sender.get(two.id)).dead_letter?.status, "redriven", "a dead letter of the set");
      t.equal((await sender.get(later.id)).dead_letter?.status, "open", "one that came after the dry run");
    },
  },
  {
    id: "AFTER-9",
    promise:
      "A dead letter that was discarded is not redriven any more, and one that was redriven is not discarded: 409.",
    section,
    features: redrive,
    run: async (t) => {
      const pair = await t.pair();
      const [one, two] = [await dead(pair), await dead(pair)];
      await pair.sender.ok("discard", { params: { id: one.id }, body: {} });
      await pair.sender.refused("redrive", { params: { id: one.id }, body: {} }, 409, "discarded");
      await pair.sender.ok("redrive", { params: { id: two.id }, body: {} }, 202);
      await pair.sender.refused("discard", { params: { id: two.id }, body: {} }, 409, "redriven");
    },
  },
  {
    id: "AFTER-10",
    promise: "With dead_letter_to, a dead letter is submitted once to that capability, and stays open.",
    section,
    run: async (t) => {
      const desk = t.name("desk");
      const [pair, human] = await Promise.all([t.pair(), t.agent(desk)]);
      const { id } = await dead(pair, { dead_letter_to: desk });
      const lease = await human.lease();
      const event = await pair.sender.event(id, "routed");
      t.equal(event["to"], lease.id, "to, in the event `routed`");
      t.equal((await pair.sender.get(id)).dead_letter?.status, "open", "the dead letter");
      await human.act("complete", lease, { output: "seen" });
      t.equal(await human.claim({ slots: 3 }, 1_000), [], "what else the desk is given");
      t.equal((await pair.sender.eventTypes(id)).filter((type) => type === "routed").length, 1, "events `routed`");
    },
  },
  {
    id: "AFTER-11",
    promise:
      "A redrive is refused like any other submit while nobody offers what it needs, and the dead letter stays open.",
    section,
    features: redrive,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await dead(pair);
      await t.register(pair.worker.name, pair.worker.key, []);
      await pair.sender.refused("redrive", { params: { id }, body: {} }, 406, "nobody_offers");
      t.equal((await pair.sender.get(id)).dead_letter?.status, "open", "the dead letter");
    },
  },
  {
    id: "AFTER-12",
    promise: "What is no dead letter is neither redriven nor discarded: 409, `not_dead`.",
    section,
    features: redrive,
    run: async (t) => {
      const pair = await t.pair();
      const { id: open } = await sent(pair);
      const { id: canceled } = await sent(pair);
      await pair.sender.ok("cancel", { params: { id: canceled }, body: {} });
      for (const id of [open, canceled]) {
        await pair.sender.refused("redrive", { params: { id }, body: {} }, 409, "not_dead");
        await pair.sender.refused("discard", { params: { id }, body: {} }, 409, "not_dead");
      }
    },
  },
];
