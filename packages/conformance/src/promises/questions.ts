/** handoffs.md, "Asking and answering" and "Questions". */

import type { LeaseView, QuestionView } from "@handfast/protocol/wire";
import type { Check } from "../check.ts";
import type { Caller } from "../stage/caller.ts";
import { sent, working } from "../stage/scenes.ts";

const asking = "handoffs.md#asking-and-answering";
const questions = "handoffs.md#questions";
const features = ["questions"];

function answer(by: Caller, { id }: Pick<QuestionView, "id">, said: unknown): Promise<QuestionView> {
  return by.ok("answer", { params: { id }, body: { answer: said } });
}

function ask(worker: Caller, lease: LeaseView, more: object = {}): Promise<QuestionView> {
  return worker.act("ask", lease, { question: "which?", ...more });
}

export const askingAndAnswering: readonly Check[] = [
  {
    id: "ASK-1",
    promise:
      "A question that keeps its lease makes the handoff waiting; its answer resumes the work under the same fence and reaches the worker with its beat.",
    section: asking,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await working(pair);
      const question = await ask(worker, lease);
      const { state, code, lease: held } = await sender.get(lease.id);
      t.equal({ state, code, fence: held?.fence }, { state: "waiting", code: 213, fence: 1 }, "the handoff");
      await answer(sender, question, { use: "this" });
      const beat = await worker.act("heartbeat", lease);
      t.equal(beat.state, "working", "the state after the answer");
      t.equal(
        beat.question,
        { id: question.id, resolution: "answered", answer: { use: "this" }, by: sender.name },
        "the question in the beat",
      );
      await worker.act("complete", lease, { output: 1 });
      const types = await sender.eventTypes(lease.id);
      t.equal(types.slice(3), ["asked", "answered", "completed"], "its events");
    },
  },
  {
    id: "ASK-2",
    promise:
      "A parked question ends the lease; the answer queues the handoff, and the next delivery carries the conversation and goes on with the same attempt.",
    section: asking,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await working(pair);
      const question = await ask(worker, lease, { park: true });
      const parked = await sender.get(lease.id);
      t.equal(
        { state: parked.state, lease: parked.lease },
        { state: "waiting", lease: null },
        "the handoff while it is parked",
      );
      await worker.refusedAct("heartbeat", lease, {}, 412, "lease_lost");
      await answer(sender, question, "this");
      const next = await worker.lease();
      t.equal({ fence: next.fence, attempt: next.attempt }, { fence: 2, attempt: 1 }, "the next delivery");
      const told = next.questions.map(({ id, question: asked, answer: said }) => ({ id, asked, said }));
      t.equal(told, [{ id: question.id, asked: "which?", said: "this" }], "the conversation");
      await worker.act("ack", next);
      t.equal((await sender.get(lease.id)).attempts, 1, "attempts after the next ack");
      const types = await sender.eventTypes(lease.id);
      t.equal(types.slice(3), ["asked", "answered", "requeued", "delivered", "acknowledged"], "its events");
      t.equal((await sender.event(lease.id, "requeued"))["why"], "answered", "why it was requeued");
    },
  },
  {
    id: "ASK-3",
    promise:
      "A question that is not answered in time, with the lease kept, is told to the worker, and the work goes on.",
    section: asking,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const question = await ask(pair.worker, lease, { answer_ms: 800 });
      const asked = await pair.sender.event(lease.id, "asked");
      const event = await pair.sender.event(lease.id, "unanswered");
      t.that(event.at - asked.at >= 800, "no end of the question before 800 ms", event.at - asked.at);
      const beat = await pair.worker.act("heartbeat", lease);
      t.equal(beat.state, "working", "the state");
      t.equal(beat.question, { id: question.id, resolution: "unanswered" }, "the question in the beat");
      t.equal((await pair.sender.get(lease.id)).fence, 1, "the fence");
    },
  },
  {
    id: "ASK-4",
    promise: "A parked question that is not answered in time ends the handoff as failed, 408.",
    section: asking,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await ask(pair.worker, lease, { park: true, answer_ms: 600 });
      const { state, code } = await pair.sender.ended(lease.id);
      t.equal({ state, code }, { state: "failed", code: 408 }, "how it ended");
      t.equal((await pair.sender.eventTypes(lease.id)).slice(3), ["asked", "unanswered", "failed"], "its events");
    },
  },
  {
    id: "ASK-5",
    promise: "A worker that releases while it waits parks: the question stays open.",
    section: asking,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const question = await ask(pair.worker, lease);
      await pair.worker.act("release", lease);
      const { state, question: open } = await pair.sender.get(lease.id);
      t.equal(
        { state, parked: open?.parked, id: open?.id },
        { state: "waiting", parked: true, id: question.id },
        "the handoff",
      );
      t.equal((await pair.sender.eventTypes(lease.id)).at(-1), "parked", "the last event");
      await answer(pair.sender, question, "this");
      const next = await pair.worker.lease();
      t.equal({ fence: next.fence, attempt: next.attempt }, { fence: 2, attempt: 1 }, "the next delivery");
    },
  },
  {
    id: "ASK-6",
    promise: "A worker that is lost while it waits parks: no attempt is lost, and the question stays open.",
    section: asking,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { lease_ms: 4_000 } });
      const question = await ask(pair.worker, lease);
      await pair.sender.event(lease.id, "parked");
      await pair.worker.refusedAct("heartbeat", lease, {}, 412, "lease_lost");
      await answer(pair.sender, question, "this");
      t.equal((await pair.worker.lease()).attempt, 1, "the attempt of the next delivery");
    },
  },
  {
    id: "ASK-7",
    promise:
      "Where a second attempt is forbidden, a worker that is lost while it waits ends the handoff as failed, 521.",
    section: asking,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { lease_ms: 4_000, retry: "until_ack" } });
      await ask(pair.worker, lease);
      const { state, code } = await pair.sender.ended(lease.id);
      t.equal({ state, code }, { state: "failed", code: 521 }, "how it ended");
    },
  },
  {
    id: "ASK-8",
    promise: "An outcome while it waits closes the open question.",
    section: asking,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const question = await ask(pair.worker, lease);
      await pair.worker.act("complete", lease, { output: 1 });
      const view = await pair.sender.ok("question", { params: { id: question.id } });
      t.equal(
        { open: view.open, resolution: view.resolution },
        { open: false, resolution: "unanswered" },
        "the question",
      );
    },
  },
  {
    id: "QUESTION-1",
    promise: "One question is open at a time: another is refused with 409.",
    section: questions,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await ask(pair.worker, lease, { question_id: "first" });
      await pair.worker.refusedAct("ask", lease, { question: "and?", question_id: "second" }, 409, "question_open");
    },
  },
  {
    id: "QUESTION-2",
    promise: "A question goes to whom it was put: whoever offers the capability may answer it, the sender may not.",
    section: questions,
    features,
    run: async (t) => {
      const desk = t.name("desk");
      const [pair, human] = await Promise.all([t.pair(), t.agent(desk)]);
      const lease = await working(pair);
      const { id } = await ask(pair.worker, lease, { to: desk });
      const body = { answer: "this" };
      await pair.sender.refused("answer", { params: { id }, body }, 403, "not_asked");
      const { questions: listed } = await human.ok("questions", {});
      t.equal(
        listed.map((question) => question.id),
        [id],
        "the questions that the desk is shown",
      );
      await human.ok("answer", { params: { id }, body });
      t.equal((await pair.sender.event(lease.id, "answered"))["by"], human.name, "who answered");
    },
  },
  {
    id: "QUESTION-3",
    promise: "The attempt clock stops while a handoff is waiting and goes on with what it had left.",
    section: questions,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { attempt_ms: 4_000 } });
      const question = await ask(pair.worker, lease);
      t.equal((await pair.sender.get(lease.id)).lease?.attempt_until, null, "attempt_until while it waits");
      await t.pause(4_500);
      await answer(pair.sender, question, "this");
      const { at } = await pair.sender.event(lease.id, "answered");
      await pair.worker.beatsUntilOver(lease);
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal(event["why"], "attempt_timeout", "why it was requeued");
      t.that(
        event.at - at > 0 && event.at - at <= 4_000 + 10_000,
        "the rest of the attempt after the answer",
        event.at - at,
      );
    },
  },
  {
    id: "QUESTION-4",
    promise: "The deadline keeps running while a question is open, and answer_by never lies after it.",
    section: questions,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { deadline_ms: 5_000 } });
      const question = await ask(pair.worker, lease, { answer_ms: 60_000, park: true });
      const { deadline_at } = await pair.sender.get(lease.id);
      t.that(question.answer_by <= deadline_at, `answer_by at ${deadline_at} or before`, question.answer_by);
      const { code } = await pair.sender.ended(lease.id);
      t.equal(code, 408, "the code of its end");
    },
  },
  {
    id: "QUESTION-5",
    promise: "An answer to a question that nobody waits for any more is 408; 410 if the handoff was canceled.",
    section: questions,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const one = await working(pair);
      const late = await ask(pair.worker, one);
      await pair.worker.act("complete", one, { output: 1 });
      const body = { answer: "this" };
      await pair.sender.refused("answer", { params: { id: late.id }, body }, 408, "question_closed");
      const two = await working(pair);
      const canceled = await ask(pair.worker, two);
      await pair.sender.ok("cancel", { params: { id: two.id }, body: {} });
      await pair.sender.refused("answer", { params: { id: canceled.id }, body }, 410, "question_closed");
    },
  },
  {
    id: "QUESTION-6",
    promise: "After the answer to a parked question the same agent is preferred.",
    section: questions,
    features,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const other = await t.agent(capability);
      const lease = await working(pair);
      const question = await ask(worker, lease, { park: true });
      // The other one waits longer and has more room, so that it would be first without the preference.
      const waiting = t.meanwhile(other.claim({ slots: 9 }, 6_000));
      await other.asking();
      const mine = t.meanwhile(worker.claim({}, 6_000));
      await worker.asking();
      await answer(sender, question, "this");
      t.equal(
        (await mine).map(({ id }) => id),
        [lease.id],
        "what the agent that asked is given",
      );
      t.equal(await waiting, [], "what the other agent is given");
    },
  },
  {
    id: "QUESTION-7",
    promise: "A handoff may ask 100 questions; one more is 429.",
    section: questions,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      for (let n = 1; n <= 100; n += 1) {
        const question = await ask(pair.worker, lease, { question_id: `q${n}` });
        await answer(pair.sender, question, n);
      }
      const body = { question: "one more?", question_id: "q101" };
      await pair.worker.refusedAct("ask", lease, body, 429, "too_many_questions");
    },
  },
  {
    id: "QUESTION-8",
    promise: "A parked question holds no slot and no lease: its worker is given other work meanwhile.",
    section: questions,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await ask(pair.worker, lease, { park: true });
      const other = await sent(pair);
      t.equal((await pair.worker.lease({ slots: 1 })).id, other.id, "what the worker is given");
      t.equal((await pair.sender.get(lease.id)).lease, null, "the lease of the parked one");
    },
  },
];
