/** Questions back and their answers. A question's id begins with the id of its handoff. */

import { type Handoff, hasEnded, type Question } from "@handfast/core";
import { wakeKey } from "@handfast/engine";
import {
  ask_request,
  followed_query,
  type LeaseView,
  plain_answer,
  type QuestionView,
  question_id,
  question_page,
  question_view,
  type SignedBody,
  signed_body,
} from "@handfast/protocol/wire";
import Type from "typebox";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Act, attestedAct, signedAct } from "./acts.ts";
import { boundedPage } from "./bounded-page.ts";
import { answerContent } from "./content.ts";
import { isPosition, makeCursor, readCursor } from "./cursor.ts";
import { accomplished, bindsAnother, holdingOf } from "./holding.ts";
import { json, jsonList, operation } from "./operation.ts";
import { actorOf } from "./parties.ts";
import { asJson, asText, sealJson } from "./payloads.ts";
import { badCursor, idParams, untilNews } from "./read.ts";
import type { Relay } from "./relay.ts";
import { sightOf } from "./sight.ts";
import { codeOf } from "./view.ts";
import { readUntil } from "./watch.ts";

/** The bytes of a question: what is asked, and what an answer must look like. */
interface AskedBody {
  readonly question: unknown;
  readonly schema?: unknown;
}

export const ask = operation(
  {
    name: "ask",
    method: "POST",
    path: "/v1/handoffs/{id}/ask",
    tag: "workers",
    access: "caller",
    summary: "Ask the sender, or whoever offers a capability. Keep the lease and go on beating, or park.",
    params: idParams,
    body: ask_request,
    replies: { 200: question_view },
    problems: [403, 404, 408, 409, 410, 412, 413, 422, 507],
  },
  async ({ relay, caller, params, body }) => {
    const { question, schema, question_id: name, to = null, answer_ms = null, park = false } = body;
    if (schema !== undefined) relay.schemas.admit(schema, "/schema");
    const { handoff, agent, fence } = await holdingOf(relay, caller, params.id, body);
    if (schema !== undefined && relay.contracts.answers.fitsNothing(schema)) throw unanswerable();
    const asked: AskedBody = { question, ...(schema === undefined ? {} : { schema }) };
    const payload = sealJson(relay, asked).bytes;
    if (payload.length > limits.question_bytes) {
      const detail = `The question has ${payload.length} bytes; at most ${limits.question_bytes} are kept.`;
      throw new Problem(413, "question_too_large", detail, { fields: ["/question"] });
    }
    const id = `${params.id}:${name ?? (await unnamed(relay, handoff, fence, payload))}`;
    const beyond = isBeyondAgreed(relay, handoff, schema) ? ({ beyond_agreed: true } as const) : {};
    const command = { type: "ask", agent, fence, question: id, to, answer_ms, park, ...beyond } as const;
    const enclosure = { body: { kind: "question", document: null, proof: null, payload }, artifacts: [] } as const;
    const after = accomplished(await relay.engine.perform(caller.namespace, params.id, command, enclosure));
    return json(await showQuestion(relay, after, id));
  },
);

function unanswerable(): Problem {
  const detail = "No value fits the schema that the answer must fit. Correct it, or leave it out.";
  return new Problem(422, "question_unanswerable", detail, { fields: ["/schema"] });
}

/** Whether the contract that the handoff is under lists questions, and none that demands as much. */
function isBeyondAgreed(relay: Relay, { accepted }: Handoff, schema: Record<string, unknown> | undefined): boolean {
  const id = accepted.contract?.id;
  const record = id === undefined ? undefined : relay.contracts.get(id);
  if (id === undefined || record === undefined || schema === undefined) return false;
  return relay.contracts.answers.isBeyond(id, record, schema);
}

/** A retry of the question that is open means that one; otherwise the next number. */
async function unnamed(relay: Relay, handoff: Handoff, fence: number, payload: Uint8Array): Promise<string> {
  const { questions, accepted } = handoff;
  const index = questions.findIndex((question) => question.resolution === null && question.fence === fence);
  const open = questions[index];
  if (open !== undefined) {
    const body = await relay.engine.body(accepted.namespace, accepted.id, "question", index);
    if (body?.payload && Buffer.compare(body.payload, payload) === 0) return open.id.slice(open.id.indexOf(":") + 1);
  }
  return String(questions.length + 1);
}

export const listQuestions = operation(
  {
    name: "questions",
    method: "GET",
    path: "/v1/questions",
    tag: "questions",
    access: "caller",
    summary:
      "Open questions put to the caller: as the sender, or by a capability that it offers. An operator sees all.",
    query: followed_query,
    waits: true,
    replies: { 200: question_page },
  },
  async ({ relay, caller, query, wait_ms, signal, room }) => {
    const { namespace, name } = caller;
    const limit = query.limit ?? limits.page_size_default;
    const desk = caller.role === "operator" || relay.directory.offers(name).length > 0;
    const key = desk ? wakeKey.desk(namespace) : wakeKey.asked(namespace, name);
    const list = (most: number) => openQuestions(relay, caller, most, query.cursor);
    const isEmpty = async () => (await list(1)).handoffs.length === 0;
    // Whoever waits, and then for room, keeps nothing in memory meanwhile.
    if (wait_ms > 0) await untilNews(relay, key, query.since, wait_ms, signal, isEmpty);
    await room(limits.reply_bytes);
    const mark = relay.engine.wakeups.mark(key);
    const first = await list(limit);
    const { page, texts } = await boundedPage(first, list, async (handoff) => {
      if (handoff.status.state !== "waiting") throw new Error(`${handoff.accepted.id} was listed and asks nothing`);
      return JSON.stringify(await showQuestion(relay, handoff, handoff.status.question));
    });
    return jsonList("questions", texts, { cursor: page.cursor, mark });
  },
);

/** First those put to the caller as the sender, then those put to its capabilities; the cursor says in which it is. */
async function openQuestions(relay: Relay, caller: Caller, limit: number, cursor: string | undefined) {
  const { namespace, name } = caller;
  const { part, after } = questionPlace(cursor);
  const offers = relay.directory.offers(name);
  const parts =
    caller.role === "operator"
      ? [{ part: "a", query: { state: "waiting" } }]
      : [
          { part: "s", query: { from: name, question_to: [""] } },
          ...(offers.length === 0 ? [] : [{ part: "d", query: { question_to: offers } }]),
        ];
  const handoffs: Handoff[] = [];
  const first = part === null ? 0 : parts.findIndex((candidate) => candidate.part === part);
  if (first < 0) throw badCursor();
  for (const [index, current] of parts.slice(first).entries()) {
    const place = index === 0 && after !== "" ? { after } : {};
    const left = limit - handoffs.length;
    const page = await relay.store.list({ namespace, order: "oldest", limit: left, ...current.query, ...place });
    handoffs.push(...page.handoffs.filter(({ status }) => status.state === "waiting"));
    const next = page.after === null ? parts[first + index + 1] : current;
    if (page.after !== null || (handoffs.length >= limit && next !== undefined)) {
      return { handoffs, cursor: makeCursor("list", `${next?.part ?? current.part}${page.after ?? ""}`) };
    }
  }
  return { handoffs, cursor: null };
}

function questionPlace(cursor: string | undefined): { readonly part: string | null; readonly after: string } {
  if (cursor === undefined) return { part: null, after: "" };
  const place = readCursor("list", cursor);
  const after = place?.slice(1) ?? "";
  if (place === null || place === "" || (after !== "" && !isPosition(after))) throw badCursor();
  return { part: place.charAt(0), after };
}

const questionParams = Type.Object({ id: question_id });

export const getQuestion = operation(
  {
    name: "question",
    method: "GET",
    path: "/v1/questions/{id}",
    tag: "questions",
    access: "caller",
    summary: "A question and, once it is there, its answer. Waits, if asked to, until it is resolved.",
    params: questionParams,
    waits: true,
    replies: { 200: question_view },
    problems: [404],
  },
  async ({ relay, caller, params, wait_ms, signal, room }) => {
    const keys = [wakeKey.handoff(caller.namespace, handoffOf(params.id))];
    const read = () => seenQuestion(relay, caller, params.id);
    const isReady = ({ handoff, question }: Awaited<ReturnType<typeof read>>) =>
      question.resolution !== null || hasEnded(handoff.status);
    const { handoff, question } = await readUntil(relay.engine.wakeups, keys, wait_ms, signal, read, isReady);
    await room(question.resolution === null ? limits.question_bytes : limits.inline_payload_bytes);
    return json(await showQuestion(relay, handoff, params.id));
  },
);

export const answer = operation(
  {
    name: "answer",
    method: "POST",
    path: "/v1/questions/{id}/answer",
    tag: "questions",
    access: "caller",
    summary: "Answer a question. Repeated alike, it is answered alike; another answer is a conflict.",
    params: questionParams,
    body: plain_answer,
    signed: signed_body,
    replies: { 200: question_view },
    problems: [403, 404, 408, 409, 410, 422, 507],
  },
  async ({ relay, caller, params, body }) => {
    const { handoff, index } = await seenQuestion(relay, caller, params.id);
    const act = await answerOf(relay, caller, handoff, params.id, body);
    const { namespace, id } = handoff.accepted;
    const { payload, document } = act;
    if (payload === null) throw new Error("an answer without a payload");
    const { schema } = await askedBody(relay, handoff, index);
    const content = { media_type: document.answer.media_type, bytes: payload };
    const fault = schema === undefined ? null : relay.schemas.compile(schema).check(content, "answer_unfit");
    const command = {
      type: "answer",
      actor: actorOf(caller),
      question: params.id,
      content: answerContent(payload, document.answer.media_type),
      answer: document.answer,
      evidence: act.evidence,
      offers: relay.directory.offers(caller.name),
      ...(fault === null ? {} : { fault }),
    } as const;
    const enclosure = {
      body: { kind: "answer", document: act.text, proof: act.proof, payload },
      artifacts: [],
    } as const;
    const after = accomplished(await relay.engine.perform(namespace, id, command, enclosure));
    return json(await showQuestion(relay, after, params.id));
  },
);

async function answerOf(
  relay: Relay,
  caller: Caller,
  handoff: Handoff,
  question: string,
  body: { readonly answer?: unknown } | SignedBody,
): Promise<Act<"answer">> {
  const { id, digest } = handoff.accepted;
  if ("signed" in body) {
    const act = await signedAct(relay, caller, "answer", body.signed, (document) => document.answer);
    const { document } = act;
    const wrong = [
      ...(document.id === id ? [] : ["id"]),
      ...(document.question === question ? [] : ["question"]),
      ...(document.handoff === digest ? [] : ["handoff"]),
    ];
    if (wrong.length > 0) throw bindsAnother(wrong);
    return act;
  }
  const sealed = sealJson(relay, body.answer);
  return attestedAct(relay, "answer", caller.name, { id, question, handoff: digest, answer: sealed.digest }, sealed);
}

function handoffOf(question: string): string {
  return question.slice(0, question.indexOf(":"));
}

/** For parties, for whoever offers the capability that was asked, and for operators. */
async function seenQuestion(relay: Relay, caller: Caller, id: string) {
  const record = await relay.engine.get(caller.namespace, handoffOf(id));
  const index = record?.questions.findIndex((candidate) => candidate.id === id) ?? -1;
  const asked = record?.questions[index]?.to ?? null;
  const isDesk = asked !== null && relay.directory.offers(caller.name).includes(asked);
  const handoff = isDesk || record === null ? record : (sightOf(record, caller)?.handoff ?? null);
  const question = handoff?.questions[index];
  if (handoff !== null && question !== undefined) return { handoff, question, index };
  throw new Problem(404, "unknown_question", `There is no question ${id}, or it was not put to you.`);
}

async function askedBody(relay: Relay, { accepted }: Handoff, index: number): Promise<AskedBody> {
  const body = await relay.engine.body(accepted.namespace, accepted.id, "question", index);
  const text = body === null || body.payload === null ? null : asText(body.payload);
  return text === null ? { question: null } : (asJson(text) as AskedBody);
}

async function answerBody(relay: Relay, { accepted }: Handoff, index: number): Promise<unknown> {
  const body = await relay.engine.body(accepted.namespace, accepted.id, "answer", index);
  const text = body === null || body.payload === null ? null : asText(body.payload);
  return text === null ? null : (asJson(text) ?? text);
}

export async function showQuestion(relay: Relay, handoff: Handoff, id: string): Promise<QuestionView> {
  const index = handoff.questions.findIndex((candidate) => candidate.id === id);
  const question = handoff.questions[index];
  if (question === undefined) throw new Error(`question ${id} is not among those of its handoff`);
  const { accepted, status } = handoff;
  return {
    id,
    handoff: accepted.id,
    digest: accepted.digest,
    agent: question.agent,
    from: accepted.from,
    to: question.to,
    correlation_id: accepted.correlation_id,
    state: status.state,
    code: codeOf(handoff),
    ...(await askedBody(relay, handoff, index)),
    asked_at: question.asked_at,
    answer_by: question.answer_by,
    open: status.state === "waiting" && status.question === id,
    ...(await resolved(relay, handoff, question, index)),
  };
}

async function resolved(relay: Relay, handoff: Handoff, { resolution }: Question, index: number) {
  if (resolution === null) return { resolution: null };
  if (resolution.kind === "unanswered") return { resolution: "unanswered" as const };
  const answer = await answerBody(relay, handoff, index);
  return { resolution: "answered" as const, answer, by: resolution.by, answered_at: resolution.at };
}

/** The questions of a handoff with their answers so far; of one only, where its id is given. */
export async function conversationOf(relay: Relay, handoff: Handoff, only?: string): Promise<LeaseView["questions"]> {
  const told: LeaseView["questions"] = [];
  for (const [index, question] of handoff.questions.entries()) {
    if (only !== undefined && question.id !== only) continue;
    const { question: asked } = await askedBody(relay, handoff, index);
    const { resolution, answer, by } = {
      answer: undefined,
      by: undefined,
      ...(await resolved(relay, handoff, question, index)),
    };
    told.push({
      id: question.id,
      question: asked,
      asked_at: question.asked_at,
      resolution,
      ...(answer === undefined ? {} : { answer }),
      ...(by === undefined ? {} : { by }),
    });
  }
  return told;
}
