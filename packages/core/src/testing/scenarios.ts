/**
 * For tests: named lives, each told up to the one decision it is about, which is its last step.
 * The specification's vectors for the state machine are made of them.
 */

import { coreLimits } from "../limits.ts";
import { Life, operator, relay, sender, stranger } from "./life.ts";
import { type ContextPatch, childDraft, type DraftPatch, digestOf, idOf, payload, start } from "./sample.ts";

const fault = { reason: "type", message: "/summary must be a string" };
const usage = { cost: 2, tokens: 50 };
const long: DraftPatch = { terms: { deadline_ms: 86_400_000, queue_ms: 86_400_000 } };
const desk = { kind: "agent", agent: "dora" } as const;

type Acts = (life: Life) => unknown;

function then(life: Life, ...acts: readonly Acts[]): Life {
  for (const act of acts) act(life);
  return life;
}
function submitted(patch: DraftPatch = {}, known: ContextPatch = {}, queueIfAbsent = false): Life {
  return then(new Life(), (life) => life.submit(patch, known, queueIfAbsent));
}
function child(parent: Life, patch: DraftPatch = {}, known: ContextPatch = {}): Life {
  const life = new Life();
  life.now = parent.now;
  const draft = childDraft(parent.handoff, patch);
  life.do({ type: "submit", draft, queue_if_absent: false }, { parent: parent.handoff, ...known });
  return life;
}
function budgeted(spend: { cost: number; tokens: number; handoffs: number }): Life {
  const life = Life.working({ budget: { cost: 10, tokens: 1_000, handoffs: 2 } });
  const { handoffs, ...usage } = spend;
  life.do({ type: "charge", usage, handoffs });
  return life;
}
function below(holder: Life, patch: DraftPatch = {}): Life {
  return child(holder, patch, { budgets: [holder.handoff] });
}
function parked(patch: DraftPatch = {}): Life {
  return then(Life.working(patch), (life) => life.ask({ park: true }));
}
function asked(patch: DraftPatch = {}): Life {
  return then(Life.working(patch), (life) => life.ask());
}
function continued(): Life {
  return then(
    parked({ terms: { max_attempts: 1, attempt_ms: 60_000 } }),
    (l) => l.answer(),
    (l) => l.deliver(),
  );
}
function lostTo(agent: string): Life {
  return then(
    Life.working(),
    (l) => l.pass(30_000),
    (l) => l.deliver({ agent }),
  );
}
function back(life: Life): Life {
  life.wait(600_000);
  life.context = { ...life.context, resumed_at: life.now };
  return life;
}

const known = { id: idOf(1), content: digestOf("content") };

export const scenarios: Readonly<Record<string, Readonly<Record<string, () => Life>>>> = {
  submit: {
    "a handoff is accepted and queued": () => submitted(),
    "a handoff for one agent is accepted": () => submitted({ to: "bob" }),
    "the same content under the same key is answered as the first time": () => submitted({}, { known }),
    "another id, salt and signature under the same key are an honest retry": () =>
      submitted({ id: idOf(2), input: { ...payload("input"), salt: "other" }, digest: digestOf("other") }, { known }),
    "other content under the same key is 409": () => submitted({ content: digestOf("other") }, { known }),
    "the id of another handoff is 409": () => then(Life.of(), (l) => l.submit({ idempotency_key: "another" })),
    "an id from too far ahead is 400": () => submitted({ id: idOf(1, start + coreLimits.id_ahead_ms + 1) }),
    "an id from before the dedupe window is 400": () => submitted({ id: idOf(1, start - coreLimits.id_behind_ms - 1) }),
    "a capability that nobody offers is 406": () => submitted({}, { target: { kind: "absent" } }),
    "a capability that nobody offers yet is accepted if the sender will wait": () =>
      submitted({}, { target: { kind: "absent" } }, true),
    "an unknown agent is 404": () => submitted({ to: "zoe" }, { target: { kind: "unknown_agent" } }),
    "input that fits nobody is 422": () => submitted({}, { target: { kind: "unfit", error: fault } }),
    "agents whose schema the input does not fit are left out": () =>
      submitted({}, { target: { kind: "fits", except: ["carol"] } }),
    "a key of the relay's own is 400": () => submitted({ idempotency_key: "handfast:redrive:1" }),
    "the id of a handoff that was purged is 409": () => submitted({}, { id_used: true }),
    "as many open handoffs as a sender may have are 429": () =>
      submitted({}, { sender_open: coreLimits.max_open_per_sender }),
    "behind an open handoff of its lane it is blocked": () => submitted({ ordering_key: "k" }, { lane_busy: true }),
  },
  children: {
    "a child takes over correlation and deadline and is adopted": () =>
      child(Life.working({ correlation_id: "trip", terms: { deadline_ms: 60_000 } }).wait(5_000)),
    "a second child adopts nothing": () => child(then(Life.working(), (l) => l.do({ type: "adopt" }))),
    "a detached child does not outlive its parent's deadline either": () =>
      child(Life.working({ terms: { deadline_ms: 60_000 } }), { detached: true }),
    "an unknown parent is 404": () => submitted({ causation: { id: idOf(9), fence: 1 } }),
    "a foreign parent is 403": () => child(Life.working(), { from: "mallory" }),
    "a stale fence is 412": () => child(then(Life.working(), (l) => l.release())),
    "a lease that ran out unnoticed is 412": () => child(Life.working().wait(30_000)),
    "too many hops are 508": () => child(Life.working(), {}, { limits: { ...coreLimits, max_hops: 0 } }),
    "another correlation than the parent's is 400": () => child(Life.working(), { correlation_id: "elsewhere" }),
    "the end of a parent leaves its children to cancel": () =>
      then(
        Life.working(),
        (l) => l.do({ type: "adopt" }),
        (l) => l.complete(),
      ),
    "a child is canceled by the relay": () =>
      then(Life.working(), (l) => l.cancel({ actor: relay, evidence: "relay" })),
    "the children are swept": () =>
      then(
        Life.working(),
        (l) => l.do({ type: "adopt" }),
        (l) => l.complete(),
        (l) => l.do({ type: "swept" }),
      ),
    "a child that came while the parent ended is left to cancel, too": () =>
      then(Life.completed(), (l) => l.do({ type: "adopt" })),
  },
  budgets: {
    "a handoff below a budget is charged to it": () => below(budgeted({ cost: 0, tokens: 0, handoffs: 0 })),
    "spent handoffs are 402": () => below(budgeted({ cost: 0, tokens: 0, handoffs: 2 })),
    "spent cost is 402": () => below(budgeted({ cost: 10, tokens: 0, handoffs: 0 })),
    "spent tokens are 402": () => below(budgeted({ cost: 0, tokens: 1_000, handoffs: 0 })),
    "a budget below another is narrowed to what is left": () =>
      below(budgeted({ cost: 4, tokens: 0, handoffs: 1 }), { budget: { cost: 100, tokens: 5, handoffs: null } }),
    "usage is charged to every budget above": () =>
      then(
        below(budgeted({ cost: 0, tokens: 0, handoffs: 0 })),
        (l) => l.deliver(),
        (l) => l.complete({ usage }),
      ),
  },
  delivery: {
    "a queued handoff is delivered under the next fence": () => Life.delivered(),
    "a held handoff is not delivered": () => then(Life.delivered(), (l) => l.deliver({ agent: "carol" })),
    "a blocked handoff is not delivered": () =>
      then(submitted({ ordering_key: "k" }, { lane_busy: true }), (l) => l.deliver()),
    "a handoff is not delivered before its backoff is over": () =>
      then(
        Life.working(),
        (l) => l.fail(),
        (l) => l.deliver(),
      ),
    "a handoff for one agent is not delivered to another": () =>
      then(Life.of({ to: "bob" }), (l) => l.deliver({ agent: "carol" })),
    "an excluded agent gets nothing": () =>
      then(
        Life.working(),
        (l) => l.reject(),
        (l) => l.deliver({ agent: "bob" }),
      ),
    "an agent whose manifest changed is excluded": () => then(Life.of(), (l) => l.exclude("carol")),
    "the last agent excluded rejects the handoff": () => then(Life.of(), (l) => l.exclude("carol", { others: 0 })),
    "a delivery that is not acknowledged is queued again": () => then(Life.delivered(), (l) => l.pass(10_000)),
    "the last delivery that is not acknowledged is 504": () =>
      then(Life.delivered({ terms: { max_deliveries: 1 } }), (l) => l.pass(10_000)),
  },
  ack: {
    "an ack starts the work and counts the attempt": () => Life.working(),
    "a repeated ack changes nothing": () => then(Life.working(), (l) => l.ack()),
    "an ack too late is 412": () => then(Life.delivered().wait(10_000), (l) => l.ack()),
    "the ack of another agent is 403": () => then(Life.delivered(), (l) => l.ack({ agent: "carol" })),
    "an attested ack is 401 where a signature is demanded": () =>
      then(Life.delivered({ demands: "signed" }), (l) => l.ack({ evidence: "attested" })),
    "an ack after a cancel is 410": () =>
      then(
        Life.delivered(),
        (l) => l.cancel(),
        (l) => l.ack(),
      ),
    "an ack after an answer to a parked question counts no attempt": () => then(continued(), (l) => l.ack()),
  },
  notices: {
    "a notice is completed by its ack": () => Life.working({ kind: "notice" }),
    "a repeated ack of a notice changes nothing": () => then(Life.working({ kind: "notice" }), (l) => l.ack()),
    "a notice takes no question": () => then(Life.delivered({ kind: "notice" }), (l) => l.ask()),
  },
  work: {
    "a beat extends the lease": () => then(Life.working().wait(20_000), (l) => l.beat()),
    "a beat carries progress": () =>
      then(Life.working(), (l) => l.beat({ progress: { fraction: 0.5, note: "reading" } })),
    "a beat under a stale fence is 412": () => then(lostTo("carol"), (l) => l.beat({ fence: 1 })),
    "a beat after a cancel is 410": () =>
      then(
        Life.working(),
        (l) => l.cancel(),
        (l) => l.beat(),
      ),
    "a beat after the deadline is 408": () =>
      then(Life.working({ terms: { deadline_ms: 20_000 } }).wait(20_000), (l) => l.beat()),
    "a checkpoint is kept and numbered": () => then(Life.working(), (l) => l.checkpoint()),
    "a checkpoint acknowledges on the way": () => then(Life.delivered(), (l) => l.checkpoint()),
    "a release gives the attempt back": () => then(Life.working(), (l) => l.release()),
    "a release before the ack counts nothing": () => then(Life.delivered(), (l) => l.release()),
    "a release while waiting parks": () => then(asked(), (l) => l.release()),
    "a release of a continued attempt gives it back": () =>
      then(
        continued(),
        (l) => l.ack(),
        (l) => l.release(),
      ),
  },
  questions: {
    "a question keeps the lease": () => asked(),
    "a question parks": () => parked(),
    "a question never waits past the deadline": () =>
      then(Life.working({ terms: { deadline_ms: 60_000 } }), (l) => l.ask({ answer_ms: 120_000 })),
    "a repeated question changes nothing": () => then(parked(), (l) => l.ask({ park: true })),
    "a second question is 409 while one is open": () => then(asked(), (l) => l.ask({ question: "question-2" })),
    "an answer resumes the worker that kept its lease": () => then(asked(), (l) => l.answer()),
    "an answer to a parked question queues for the same agent": () => then(parked(), (l) => l.answer()),
    "a repeated answer changes nothing": () =>
      then(
        asked(),
        (l) => l.answer(),
        (l) => l.answer(),
      ),
    "another answer is 409": () =>
      then(
        asked(),
        (l) => l.answer(),
        (l) => l.answer({ content: digestOf("other") }),
      ),
    "an answer of one who was not asked is 403": () => then(asked(), (l) => l.answer({ actor: stranger })),
    "an answer comes from one who offers the capability asked": () =>
      then(
        Life.working(),
        (l) => l.ask({ to: "human_desk" }),
        (l) => l.answer({ actor: desk, offers: ["human_desk"] }),
      ),
    "an answer after a cancel is 410": () =>
      then(
        asked(),
        (l) => l.cancel(),
        (l) => l.answer(),
      ),
    "unanswered, a worker that kept its lease goes on": () =>
      then(
        Life.working(),
        (l) => l.ask({ answer_ms: 20_000 }),
        (l) => l.pass(20_000),
      ),
    "unanswered and parked, the handoff fails": () => then(parked(), (l) => l.pass(60_000)),
    "a worker lost while waiting leaves the question open": () =>
      then(
        Life.working(),
        (l) => l.ask({ answer_ms: null }),
        (l) => l.pass(30_000),
      ),
    "the attempt clock goes on with what it had left": () =>
      then(
        Life.working().keepBeating(40_000),
        (l) => l.ask(),
        (l) => l.wait(20_000).answer(),
      ),
  },
  outcomes: {
    "a completed handoff ends": () => Life.completed(),
    "an outcome without an ack is ack and outcome in one": () => then(Life.delivered(), (l) => l.complete()),
    "an attested outcome is 401 where a signature is demanded": () =>
      then(Life.working({ demands: "signed" }), (l) => l.complete({ evidence: "attested" })),
    "the same output again that does not fit is answered alike and not counted": () =>
      then(Life.working(), ...[1, 2].map(() => (l: Life) => l.complete({ fault }))),
    "output that does not fit is 502 and the lease kept": () => then(Life.working(), (l) => l.complete({ fault })),
    "output that does not fit a fourth time ends the handoff": () =>
      then(
        Life.working(),
        ...[1, 2, 3, 4].map((n) => (l: Life) => l.complete({ fault, content: digestOf(`try ${n}`) })),
      ),
    "a failure that a retry can help waits out its backoff": () => then(Life.working(), (l) => l.fail()),
    "a failure waits as long as the worker says": () => then(Life.working(), (l) => l.fail({ retry_after_ms: 20_000 })),
    "a failure for good ends the handoff": () => Life.failed(),
    "the failure of the last attempt ends the handoff": () =>
      then(Life.working({ terms: { max_attempts: 1 } }), (l) => l.fail()),
    "a retry that could not start in time ends the handoff now": () =>
      then(Life.working({ terms: { deadline_ms: 60_000 } }), (l) => l.fail({ retry_after_ms: 60_000 })),
    "a failure once acknowledged under until_ack is final": () =>
      then(Life.working({ terms: { retry: "until_ack" } }), (l) => l.fail()),
    "a rejection excludes the agent and counts nothing": () => then(Life.working(), (l) => l.reject()),
    "a rejection with nobody left ends the handoff": () => then(Life.working(), (l) => l.reject({}, { others: 0 })),
    "a rejection by the only addressee ends the handoff": () => then(Life.delivered({ to: "bob" }), (l) => l.reject()),
    "a rejection of a continued attempt lets the next begin its own": () => then(continued(), (l) => l.reject()),
  },
  repeats: {
    "a repeated winning outcome changes nothing": () => then(Life.completed(), (l) => l.complete()),
    "a repeated failure changes nothing": () =>
      then(
        Life.working(),
        (l) => l.fail(),
        (l) => l.fail({ fence: 1 }),
      ),
    "another outcome under the winning fence is 409": () =>
      then(Life.completed(), (l) => l.complete({ content: digestOf("other") })),
    "a late outcome under a stale fence is 412 and kept": () => then(lostTo("carol"), (l) => l.complete({ fence: 1 })),
    "a second late outcome under the same fence is not kept": () =>
      then(
        lostTo("carol"),
        (l) => l.complete({ fence: 1 }),
        (l) => l.fail({ fence: 1 }),
      ),
    "a late outcome after a cancel is 410 and kept": () =>
      then(
        Life.working(),
        (l) => l.cancel(),
        (l) => l.complete(),
      ),
    "a late outcome after the deadline is 408 and kept": () =>
      then(Life.working({ terms: { deadline_ms: 20_000 } }).wait(20_000), (l) => l.complete()),
    "a late outcome after another agent completed is kept": () =>
      then(
        lostTo("carol"),
        (l) => l.complete(),
        (l) => l.complete({ fence: 1, content: digestOf("old") }),
      ),
    "late output that does not fit is kept as such": () =>
      then(lostTo("carol"), (l) => l.complete({ fence: 1, fault })),
    "the outcome of one who never held the fence is 403": () =>
      then(lostTo("carol"), (l) => l.complete({ fence: 1, agent: "mallory" })),
  },
  clocks: {
    "the queue clock ends with 503": () => then(Life.of({ terms: { queue_ms: 5_000 } }), (l) => l.pass(5_000)),
    "a blocked handoff has no queue clock": () =>
      then(submitted({ ordering_key: "k", terms: { queue_ms: 5_000 } }, { lane_busy: true }), (l) => l.pass(60_000)),
    "the lease clock starts another attempt": () => then(Life.working(), (l) => l.pass(30_000)),
    "the lease clock of the last attempt ends with 521": () =>
      then(Life.working({ terms: { max_attempts: 1 } }), (l) => l.pass(30_000)),
    "the lease clock under until_ack ends with 521": () =>
      then(Life.working({ terms: { retry: "until_ack" } }), (l) => l.pass(30_000)),
    "the attempt clock ends a hung attempt": () =>
      then(Life.working({ terms: { attempt_ms: 20_000 } }), (l) => l.pass(20_000)),
    "the clock that ran out first decides": () =>
      then(Life.working({ terms: { attempt_ms: 20_000 } }), (l) => l.pass(60_000)),
    "the deadline ends what is queued": () => then(Life.of(), (l) => l.pass(900_000)),
    "the deadline ends what works": () => then(Life.working({ terms: { deadline_ms: 20_000 } }), (l) => l.pass(20_000)),
    "the deadline ends what is parked": () =>
      then(
        Life.working({ terms: { deadline_ms: 20_000 } }),
        (l) => l.ask({ park: true }),
        (l) => l.pass(20_000),
      ),
    "a moment before the deadline an outcome still wins": () =>
      then(Life.working({ terms: { deadline_ms: 20_000 } }).wait(19_999), (l) => l.complete()),
    "after the relay was away a lease lives one full period": () =>
      then(back(Life.working(long)), (l) => l.wait(29_999).complete()),
    "after the relay was away a lost attempt is not counted": () =>
      then(back(Life.working(long)), (l) => l.pass(30_000)),
    "after the relay was away a lost delivery is not counted": () =>
      then(back(Life.delivered(long)), (l) => l.pass(30_000)),
    "after the relay was away an unacknowledged lease lives one full period": () =>
      then(back(Life.delivered(long)), (l) => l.wait(29_999).ack()),
  },
  cancel: {
    "the sender cancels": () => then(Life.working(), (l) => l.cancel()),
    "an operator cancels": () => then(Life.of(), (l) => l.cancel({ actor: operator, reason: "not needed" })),
    "a stranger's cancel is 403": () => then(Life.working(), (l) => l.cancel({ actor: stranger })),
    "a cancel after the end leaves the outcome": () => then(Life.completed(), (l) => l.cancel()),
  },
  order: {
    "an end frees the lane": () => then(Life.working({ ordering_key: "k" }), (l) => l.complete()),
    "a retry keeps the head": () => then(Life.working({ ordering_key: "k" }), (l) => l.fail()),
    "the new head is unblocked": () =>
      then(submitted({ ordering_key: "k" }, { lane_busy: true }).wait(60_000), (l) => l.do({ type: "unblock" })),
    "a head is not unblocked again": () => then(Life.of({ ordering_key: "k" }), (l) => l.do({ type: "unblock" })),
  },
  after: {
    "the sender takes the outcome": () => then(Life.completed(), (l) => l.take()),
    "a repeated take changes nothing": () =>
      then(
        Life.completed(),
        (l) => l.take(),
        (l) => l.take(),
      ),
    "a take before the end is 409": () => then(Life.working(), (l) => l.take()),
    "a stranger's take is 403": () => then(Life.completed(), (l) => l.take(stranger)),
    "a dead letter is redriven": () => then(Life.failed(), (l) => l.redrive(idOf(7))),
    "a second redrive changes nothing": () =>
      then(
        Life.failed(),
        (l) => l.redrive(idOf(7)),
        (l) => l.redrive(idOf(8), sender),
      ),
    "a completed handoff is not redriven": () => then(Life.completed(), (l) => l.redrive(idOf(7))),
    "a dead letter is discarded": () => then(Life.failed(), (l) => l.discard()),
    "a discarded dead letter is not redriven": () =>
      then(
        Life.failed(),
        (l) => l.discard(),
        (l) => l.redrive(idOf(7)),
      ),
    "a dead letter is routed once": () =>
      then(Life.failed({ dead_letter_to: "human_desk" }), (l) => l.do({ type: "routed", id: idOf(7) })),
    "a second routing changes nothing": () =>
      then(
        Life.failed({ dead_letter_to: "human_desk" }),
        (l) => l.do({ type: "routed", id: idOf(7) }),
        (l) => l.do({ type: "routed", id: idOf(8) }),
      ),
    "an untaken outcome is kept for its age": () =>
      then(Life.completed(), (l) => l.pass(coreLimits.keep_untaken_ms - 1)),
    "an untaken outcome goes by age": () => then(Life.completed(), (l) => l.pass(coreLimits.keep_untaken_ms)),
    "a taken outcome goes earlier": () =>
      then(
        Life.completed(),
        (l) => l.take(),
        (l) => l.pass(coreLimits.keep_taken_ms),
      ),
    "an open dead letter is kept although it was taken": () =>
      then(
        Life.failed(),
        (l) => l.take(),
        (l) => l.pass(coreLimits.keep_taken_ms),
      ),
  },
};
