import { expect, test } from "vitest";
import {
  endedView,
  heldView,
  noon,
  otherId,
  sampleAgent,
  sampleEvent,
  sampleFacts,
  sampleId,
  sampleQuestion,
  sampleView,
} from "../testing/sample.ts";
import { whyGone } from "./purged.ts";
import { why } from "./why.ts";

const gaveUp = { reason: "boom", message: "the disk is full" };
const watch = [`handfast watch ${sampleId}`];
const show = [`handfast show ${sampleId}`];

test("queued while nobody offers the capability", () => {
  expect(why(sampleView(), sampleFacts({ agents: [] }))).toEqual({
    sentence:
      "Queued because no agent offers capability upper: it goes to the first that does, and expires with 408 at 12:14:55Z (in 14 min 55 s) otherwise.",
    next: ["handfast serve upper -- COMMAND"],
  });
});

test("queued for an agent that is not known", () => {
  const { sentence, next } = why(sampleView({ to: "bob", capability: null }), sampleFacts({ agents: [] }));
  expect(sentence).toContain("because no agent named bob is known:");
  expect(next).toEqual(["handfast serve CAPABILITY --agent bob -- COMMAND"]);
});

test("queued for an agent that does not offer the capability", () => {
  const { sentence } = why(sampleView({ to: "bob" }), sampleFacts({ agents: [] }));
  expect(sentence).toContain("because agent bob does not offer upper:");
});

test("queued with a queue clock that is over before the deadline", () => {
  const view = sampleView({ queue_until: noon + 55_000 });
  const { sentence } = why(view, sampleFacts({ agents: [] }));
  expect(sentence).toContain("expires with 503 at 12:00:55Z (in 55 s) otherwise.");
});

test("queued behind the head of its ordering key", () => {
  const head = heldView({ id: otherId, ordering_key: "k" });
  expect(why(sampleView({ ordering_key: "k", blocked: true }), sampleFacts({ head }))).toEqual({
    sentence: `Queued behind handoff ${otherId} (working at worker w-1 of agent upper-1), the head of its ordering key "k": it moves when that one ends, by 12:14:55Z (in 14 min 55 s) at the latest.`,
    next: [`handfast why ${otherId}`],
  });
});

test("backing off after a failed attempt", () => {
  const events = [sampleEvent("requeued", { why: "failed", error: gaveUp })];
  const view = sampleView({ ready_at: noon + 2_000, attempts: 1 });
  expect(why(view, sampleFacts({ events }))).toEqual({
    sentence:
      "Backing off until 12:00:02Z (in 2 s) because attempt 1 of 3 failed (the disk is full): attempt 2 begins then.",
    next: watch,
  });
});

test("backing off after an attempt that ran too long", () => {
  const events = [sampleEvent("requeued", { why: "attempt_timeout" })];
  const { sentence } = why(sampleView({ ready_at: noon + 2_000, attempts: 2 }), sampleFacts({ events }));
  expect(sentence).toContain("because attempt 2 of 3 ran past its time limit: attempt 3 begins then.");
});

test("queued while everybody is excluded", () => {
  const events = [
    sampleEvent("requeued", { why: "rejected", agent: "upper-1", error: { reason: "no", message: "not my field" } }),
    sampleEvent("excluded", { agent: "upper-2", error: { reason: "x", message: "depth is missing" } }),
  ];
  const agents = [sampleAgent(), sampleAgent({ name: "upper-2" })];
  const { sentence, next } = why(sampleView(), sampleFacts({ events, agents }));
  expect(sentence).toContain(
    "because everybody who offers capability upper is excluded from it: upper-1 rejected it (not my field) and upper-2 changed its schema so that the input does not fit (depth is missing);",
  );
  expect(next).toEqual(["handfast serve upper -- COMMAND"]);
});

test("queued while no worker is there", () => {
  const away = sampleAgent({
    last_seen_at: noon - 300_000,
    workers: [{ worker: "w-1", last_seen_at: noon - 300_000, asking: false }],
  });
  const { sentence, next } = why(sampleView(), sampleFacts({ agents: [away] }));
  expect(sentence).toContain(
    "because nobody is asking for it: no worker of upper-1 is there (last heard of 5 min ago);",
  );
  expect(next).toEqual(["handfast serve upper -- COMMAND", "handfast agents"]);
});

test("queued while no worker was ever heard of", () => {
  const never = sampleAgent({ last_seen_at: null, workers: [] });
  const { sentence } = why(sampleView(), sampleFacts({ agents: [never] }));
  expect(sentence).toContain("(none was heard of since the relay started)");
});

/** Heard of a moment ago, without an open claim. */
const silent = { worker: "w-1", last_seen_at: noon - 1_000, asking: false };

test("queued while the only worker is busy", () => {
  const held = [heldView({ id: otherId })];
  const agents = [sampleAgent({ workers: [silent] })];
  const { sentence, next } = why(sampleView(), sampleFacts({ held, agents }));
  expect(sentence).toContain(
    "Queued since 5 s because nobody is asking for it: worker w-1 of upper-1 is busy: 1 open handoff is held there;",
  );
  expect(next).toEqual([...watch, "handfast agents"]);
});

test("queued while workers are there and what they hold is not for the caller to see", () => {
  const agents = [sampleAgent({ workers: [silent, { ...silent, worker: "w-2" }] })];
  const { sentence } = why(sampleView(), sampleFacts({ agents }));
  expect(sentence).toContain("each of the 2 workers of upper-1 is busy or just left (last heard of 1 s ago);");
});

test("queued for a moment, though a worker asks", () => {
  expect(why(sampleView(), sampleFacts()).sentence).toContain("and 1 worker of upper-1 is asking for work:");
});

test("queued behind one that is not for the caller to see", () => {
  const { sentence } = why(sampleView({ ordering_key: "k", blocked: true }), sampleFacts());
  expect(sentence).toContain('Queued behind an earlier handoff of its ordering key "k" that you have no part in:');
});

test("queued while nobody is there, though another worker is preferred", () => {
  const events = [sampleEvent("requeued", { why: "lease_lost", agent: "upper-1", worker: "w-1", at: noon - 4_000 })];
  const { sentence } = why(sampleView(), sampleFacts({ events, agents: [sampleAgent({ workers: [silent] })] }));
  expect(sentence).toContain("nobody is asking for it: worker w-1 of upper-1 is busy or just left");
});

test("queued again after a delivery that was not acknowledged", () => {
  const events = [
    sampleEvent("requeued", { why: "unacknowledged", agent: "upper-1", worker: "w-1", at: noon - 4_000 }),
  ];
  const { sentence } = why(sampleView(), sampleFacts({ events }));
  expect(sentence).toBe(
    "Queued again because worker w-1 of agent upper-1 did not acknowledge it: another worker is preferred until 12:00:06Z (in 6 s), then anybody may have it.",
  );
});

test("queued again after a lost lease", () => {
  const events = [sampleEvent("requeued", { why: "lease_lost", agent: "upper-1", worker: "w-1", at: noon - 4_000 })];
  expect(why(sampleView(), sampleFacts({ events })).sentence).toContain("worker w-1 of agent upper-1 lost its lease:");
});

test("queued again with an answer, kept for the agent that asked", () => {
  const events = [
    sampleEvent("asked", { agent: "upper-1" }),
    sampleEvent("requeued", { why: "answered", at: noon - 1_000 }),
  ];
  const { sentence } = why(sampleView(), sampleFacts({ events }));
  expect(sentence).toContain("Queued again with its answer, and kept for agent upper-1, which asked, until 12:00:09Z");
});

const offered = () => {
  const view = heldView({ state: "delivered", code: 210, attempts: 0, deliveries: 1 });
  return view.lease === null ? view : { ...view, lease: { ...view.lease, acknowledged_at: null } };
};

test("delivered and not yet acknowledged", () => {
  expect(why(offered(), sampleFacts())).toEqual({
    sentence:
      "Offered to worker w-1 of agent upper-1 4 s ago under fence 1 and not acknowledged yet: without an ack by 12:00:06Z (in 6 s) it goes back to the queue (1 of 10 unacknowledged deliveries used).",
    next: watch,
  });
});

test("delivered for the last time that is allowed", () => {
  const { sentence } = why({ ...offered(), deliveries: 9 }, sampleFacts());
  expect(sentence).toContain("it fails with 504 (9 of 10 unacknowledged deliveries used)");
});

test("delivered before the relay came back", () => {
  const { sentence } = why(offered(), sampleFacts({ now: noon + 16_000 }));
  expect(sentence).toContain("its ack is overdue since 10 s, which only a relay that has just come back allows;");
});

test("working, with progress and every clock that could end it", () => {
  const view = heldView({ progress: { fraction: 0.4, note: "reading", at: noon } });
  const events = [sampleEvent("acknowledged", { at: noon - 3_000 })];
  expect(why(view, sampleFacts({ events }))).toEqual({
    sentence:
      'Worker w-1 of agent upper-1 works on attempt 1 of 3 (40 % "reading"), last beat 2 s ago: it moves with its outcome; without a beat by 12:00:28Z (in 28 s) another attempt begins, the attempt ends at 12:04:57Z (in 4 min 57 s), and the deadline is 12:14:55Z (in 14 min 55 s).',
    next: watch,
  });
});

test("working on the last attempt", () => {
  const { sentence } = why(heldView({ attempts: 3 }), sampleFacts());
  expect(sentence).toContain("without a beat by 12:00:28Z (in 28 s) it fails with 521");
});

test("working where a second attempt is forbidden", () => {
  const view = heldView({ limits: { ...sampleView().limits, retry: "until_ack" } });
  expect(why(view, sampleFacts()).sentence).toContain("it fails with 521");
});

test("working with open children", () => {
  const children = [heldView({ id: otherId }), endedView("completed", 200, null, { id: otherId })];
  const { sentence, next } = why(heldView(), sampleFacts({ children }));
  expect(sentence).toContain("attempt 1 of 3, with 1 open child, last beat");
  expect(next).toEqual([`handfast tree ${sampleId}`]);
});

test("working after output that was refused", () => {
  const error = { reason: "output_unfit", message: "/summary is missing" };
  const events = [sampleEvent("unfit_output", { fence: 1, error }), sampleEvent("unfit_output", { fence: 1, error })];
  const { sentence } = why(heldView(), sampleFacts({ events }));
  expect(sentence).toContain(", its output refused 2 times (/summary is missing):");
});

const asking = (change = {}) =>
  heldView({
    state: "waiting",
    code: 213,
    question: {
      id: `${sampleId}:colour`,
      fence: 1,
      asked_at: noon - 2_000,
      answer_by: noon + 60_000,
      to: null,
      parked: false,
    },
    ...change,
  });

test("waiting for an answer of the sender, who asks", () => {
  expect(why(asking(), sampleFacts({ question: sampleQuestion() }))).toEqual({
    sentence:
      'Waiting for an answer from you (alice, the sender), to "Which colour?", due by 12:01:00Z (in 1 min): worker w-1 of agent upper-1 keeps its lease, and is told so without an answer.',
    next: [`handfast answer ${sampleId}:colour VALUE`],
  });
});

test("waiting, parked, for a desk that the caller is not", () => {
  const view = asking({ lease: null });
  const question = view.question === null ? null : { ...view.question, to: "desk", parked: true };
  const { sentence, next } = why({ ...view, question }, sampleFacts());
  expect(sentence).toBe(
    "Waiting for an answer from whoever offers desk to colour, due by 12:01:00Z (in 1 min): it is parked, and fails with 408 without an answer.",
  );
  expect(next).toEqual(watch);
});

test("waiting, as an operator sees it", () => {
  const { sentence, next } = why(asking(), sampleFacts({ me: null, question: sampleQuestion() }));
  expect(sentence).toContain("from alice, the sender, to");
  expect(next).toEqual([`handfast answer ${sampleId}:colour VALUE`]);
});

test("completed and not yet taken", () => {
  expect(why(endedView("completed", 200, null), sampleFacts())).toEqual({
    sentence:
      "Completed by worker w-1 of agent upper-1 1 min ago after 30 s (1 attempt, signed outcome), its outcome kept until you take it.",
    next: [`handfast outcomes --take ${sampleId}`],
  });
});

test("completed and taken", () => {
  const { sentence, next } = why(endedView("completed", 200, null, { taken_at: noon - 1_000 }), sampleFacts());
  expect(sentence).toContain("and taken by its sender: nothing more happens.");
  expect(next).toEqual(show);
});

test("completed for another sender", () => {
  const { sentence, next } = why(endedView("completed", 200, null), sampleFacts({ me: null }));
  expect(sentence).toContain("its outcome kept until alice takes it.");
  expect(next).toEqual(show);
});

test("a notice is completed by its ack", () => {
  const { sentence } = why(endedView("completed", 200, null, { kind: "notice" }), sampleFacts());
  expect(sentence).toContain("(a notice is completed by its ack)");
});

const redrive = [`handfast dead redrive ${sampleId}`, `handfast dead discard ${sampleId}`];

test("failed because the agent said so", () => {
  expect(why(endedView("failed", 500, gaveUp), sampleFacts())).toEqual({
    sentence:
      "Failed with 500 1 min ago because worker w-1 of agent upper-1 said so (attempt 1 of 3): the disk is full; it is an open dead letter: redrive or discard it.",
    next: redrive,
  });
});

test("failed where a second attempt was forbidden", () => {
  const limits = { ...sampleView().limits, retry: "until_ack" as const };
  const { sentence } = why(endedView("failed", 500, gaveUp, { limits }), sampleFacts());
  expect(sentence).toContain("said so (a second attempt is forbidden): the disk is full;");
});

test.each([
  [500, "attempt_timeout", "worker w-1 of agent upper-1 ran past the attempt's time limit (attempt 1 of 3);"],
  [408, "question_unanswered", "its question was not answered in time while it was parked;"],
  [502, "output_unfit", "worker w-1 of agent upper-1 kept giving output that does not fit its schema: m;"],
  [504, "not_acknowledged", "nobody acknowledged any of 10 deliveries, the last to worker w-1 of agent upper-1;"],
  [521, "agent_lost", "worker w-1 of agent upper-1 was not heard of within its lease (attempt 1 of 3);"],
  [507, "odd", "The relay takes no new handoffs while it keeps room for every open one to end: m;"],
])("failed with %i, %s", (code, reason, words) => {
  const { sentence } = why(endedView("failed", code, { reason, message: "m" }), sampleFacts());
  expect(sentence).toContain(`Failed with ${code} 1 min ago because ${words}`);
});

test("rejected by everybody", () => {
  const { sentence, next } = why(endedView("rejected", 501, gaveUp), sampleFacts());
  expect(sentence).toContain(
    "because everybody who could take it declined: the disk is full; it is an open dead letter",
  );
  expect(next).toEqual(redrive);
});

test("expired by its deadline while it was worked on, after an earlier failure", () => {
  const failures = [
    { fence: 1, agent: "upper-1", worker: "w-1", at: noon, code: 500, name: "agent_failed", error: gaveUp },
  ];
  const error = { reason: "deadline_passed", message: "the deadline passed while the handoff was working" };
  const { sentence } = why(endedView("expired", 408, error, { failures }), sampleFacts());
  expect(sentence).toContain(
    "Expired with 408 1 min ago because its deadline of 30 s passed while it was working at worker w-1 of agent upper-1, after upper-1 had come to nothing (the disk is full);",
  );
});

test("expired because nobody took it in time", () => {
  const error = { reason: "queue_timeout", message: "no capable agent took it in time" };
  const { sentence } = why(endedView("expired", 503, error), sampleFacts());
  expect(sentence).toContain(
    "Expired with 503 1 min ago because no worker for capability upper took it within the 15 min of its queue clock;",
  );
});

test.each([
  ["alice", "by its sender alice: changed my mind."],
  ["operator:root", "by operator:root: changed my mind."],
])("canceled by %s", (by, words) => {
  const error = { reason: "canceled", message: "changed my mind" };
  const { sentence, next } = why(
    endedView("canceled", 410, error),
    sampleFacts({ events: [sampleEvent("canceled", { by })] }),
  );
  expect(sentence).toBe(`Canceled 1 min ago ${words}`);
  expect(next).toEqual(show);
});

test("canceled by the relay because the parent ended", () => {
  const error = { reason: "canceled", message: "canceled by relay" };
  const view = endedView("canceled", 410, error, { causation: { id: otherId, fence: 1 } });
  const { sentence } = why(view, sampleFacts({ events: [sampleEvent("canceled", { by: "relay" })] }));
  expect(sentence).toBe(`Canceled 1 min ago by the relay because its parent ${otherId} ended.`);
});

test("canceled by somebody whom the events no longer tell", () => {
  const { sentence } = why(endedView("canceled", 410, null), sampleFacts());
  expect(sentence).toBe("Canceled 1 min ago by its sender or an operator.");
});

test("a dead letter that was redriven", () => {
  const dead_letter = { status: "redriven" as const, id: otherId, by: "alice", at: noon - 2_000 };
  const { sentence, next } = why(endedView("failed", 500, gaveUp, { dead_letter }), sampleFacts());
  expect(sentence).toContain(`; its dead letter was redriven by alice 2 s ago as ${otherId}.`);
  expect(next).toEqual([`handfast why ${otherId}`]);
});

test("a dead letter that was discarded", () => {
  const dead_letter = { status: "discarded" as const, by: "alice", at: noon - 2_000 };
  const { sentence, next } = why(endedView("failed", 500, gaveUp, { dead_letter }), sampleFacts());
  expect(sentence).toContain("; its dead letter was discarded by alice 2 s ago: nothing more happens.");
  expect(next).toEqual(show);
});

test("a dead letter that was routed to a capability", () => {
  const view = endedView("failed", 500, gaveUp, { dead_letter_to: "desk" });
  const { sentence } = why(view, sampleFacts({ events: [sampleEvent("routed", { to: otherId })] }));
  expect(sentence).toContain(`; it is an open dead letter, and went to desk as ${otherId}: redrive or discard it.`);
});

test("an end with a late outcome tells of it", () => {
  const view = endedView("canceled", 410, null);
  const outcome = { ...endedView("completed", 200, null).outcome, fence: 1 };
  const late = outcome.code === undefined ? [] : [{ at: noon, state: "completed", outcome }];
  const { sentence } = why({ ...view, late: late as typeof view.late }, sampleFacts());
  expect(sentence).toContain("; 1 late outcome is kept.");
});

test("purged by retention", () => {
  const events = [
    sampleEvent("accepted"),
    sampleEvent("completed", { code: 200 }),
    sampleEvent("purged", { at: noon }),
  ];
  expect(whyGone(sampleId, events, noon + 60_000)).toEqual({
    sentence:
      "Purged 1 min ago by retention after it had ended as completed 200: state and payloads are gone, its events stay in the log.",
    next: [`handfast log --correlation ${sampleId}`],
  });
});

test("in the log, but not for the caller to see", () => {
  const { sentence } = whyGone(sampleId, [sampleEvent("accepted")], noon);
  expect(sentence).toBe("The log knows it since 2026-11-15 11:59:55.000Z, but you have no part in it.");
});

test("nowhere", () => {
  expect(whyGone(sampleId, [], noon).sentence).toContain(`There is no handoff ${sampleId} at this relay`);
});

test("queued while nobody offers the version that is asked for", () => {
  const agents = [sampleAgent({ capabilities: [{ name: "upper", version: "1.4.0" }] })];
  const { sentence, next } = why(sampleView({ version_range: "^2" }), sampleFacts({ agents }));
  expect(sentence).toContain(
    "Queued because nobody offers capability upper in version ^2 (upper-1 1.4.0): it goes to the first that does,",
  );
  expect(next).toEqual(["handfast agents"]);
});

test("queued again for another agent after a failed attempt", () => {
  const events = [
    sampleEvent("requeued", { at: noon - 3_000, ready_at: noon - 1_000, why: "failed", agent: "upper-1" }),
  ];
  const asking = { worker: "w-1", last_seen_at: noon, asking: true };
  const facts = sampleFacts({ events, agents: [sampleAgent({ workers: [asking] })] });
  expect(why(sampleView({ attempts: 1 }), facts).sentence).toBe(
    "Queued again because agent upper-1 failed at it: another agent is preferred until 12:00:09Z (in 9 s), then anybody may have it.",
  );
});

test("held back although somebody asks", () => {
  const asking = { worker: "w-1", last_seen_at: noon, asking: true };
  const { sentence } = why(sampleView(), sampleFacts({ agents: [sampleAgent({ workers: [asking] })] }));
  expect(sentence).toContain("routing holds it back (an agent that asks has no room, is too slow");
});

test("why this agent is a second sentence, where there was something to choose", () => {
  const weighed = { rule: "better_of_two", among: 3, score: 420, over: "upper-2" } as const;
  expect(why(heldView({ why: weighed }), sampleFacts()).sentence).toMatch(
    /\. It went to upper-1 because it was the better of two drawn from 3 agents, at 420 ms before upper-2\.$/,
  );
  expect(why(heldView({ why: { rule: "only", among: 1 } }), sampleFacts()).sentence).not.toContain("It went to");
});

test.each([
  ["least_loaded", "it had the most free slots of 3 agents"],
  ["newcomer", "a small share goes to newcomers, drawn from 3 agents"],
  ["established", "the others of 3 agents are newcomers"],
  ["preferred", "it had asked the question that was answered"],
  ["sticky_order", "it served the handoff before this one in its ordering key"],
  ["conversation", "it served the conversation last"],
  ["elsewhere", "an earlier try elsewhere came to nothing"],
  ["no_other", "it is breached or ejected, and no other agent that could have it was there and free in time"],
] as const)("%s is told as: %s", (rule, words) => {
  const canary = { version: "2.x", met: false };
  const { sentence } = why(heldView({ why: { rule, among: 3, canary } }), sampleFacts());
  expect(sentence).toContain(`because ${words}; canary 2.x, which nobody there offers.`);
});
