/** Dead letters: look at them, give them another life, or let them go. */

import { type Handoff, hasEnded, reserved_key_prefix } from "@handfast/core";
import type { ListQuery } from "@handfast/engine";
import { closed, type HandoffDocument, type Limits, makeId, protocolLimits } from "@handfast/protocol";
import {
  bulk_redrive,
  bulk_redrive_reply,
  dead_letter_filter,
  dead_letter_page,
  dead_letter_view,
  handoff_view,
  plain_redrive,
  redrive_plan,
  redrive_reply,
  type SignedBody,
  signed_body,
} from "@handfast/protocol/wire";
import Type, { type Static } from "typebox";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Act, attestedAct, signedAct } from "./acts.ts";
import { boundedPage } from "./bounded-page.ts";
import { makeCursor } from "./cursor.ts";
import { showEvent } from "./events.ts";
import { accomplished, bindsAnother } from "./holding.ts";
import { withMembers } from "./json-text.ts";
import { json, jsonList, jsonText, operation } from "./operation.ts";
import { actorOf, rivalry, seen } from "./parties.ts";
import { payloadMember, type Sealed, sealJson, sealText } from "./payloads.ts";
import { showQuestion } from "./questions.ts";
import { idParams, listCursor, listPlace, outcomeBodies } from "./read.ts";
import { type Plan, planDraft, readPlan } from "./redrive-plans.ts";
import { refused } from "./refuse.ts";
import type { Relay } from "./relay.ts";
import { sightOf } from "./sight.ts";
import { submissionOf } from "./submission.ts";
import { handoffJson, nameOfCode } from "./view.ts";

type Filter = Static<typeof dead_letter_filter>;

export const listDeadLetters = operation(
  {
    name: "dead_letters",
    method: "GET",
    path: "/v1/dead-letters",
    tag: "dead letters",
    access: "caller",
    summary: "Dead letters of the caller, oldest first; an operator sees all.",
    query: dead_letter_filter,
    replies: { 200: dead_letter_page },
    problems: [403],
  },
  async ({ relay, caller, query }) => {
    const { limit = limits.page_size_default, cursor } = query;
    const asked = { ...deadQuery(relay, caller, query), ...listPlace(cursor) };
    const list = (most: number) => relay.store.list({ ...asked, limit: most });
    const { page, texts } = await boundedPage(await list(limit), list, (handoff) =>
      handoffJson(handoff, rivalry(relay, caller)),
    );
    return jsonList("dead_letters", texts, { cursor: listCursor(page.after) });
  },
);

/** Age counts from the acceptance: that is what the store can find by. */
function deadQuery(relay: Relay, caller: Caller, filter: Omit<Filter, "limit" | "cursor">): Omit<ListQuery, "limit"> {
  const { status = "open", code, capability, to, from, correlation_id, older_than_ms, younger_than_ms } = filter;
  const now = relay.engine.now();
  if (caller.role !== "operator" && from !== undefined && from !== caller.name) {
    throw new Problem(403, "not_yours", "Only an operator sees the dead letters of others.", { fields: ["/from"] });
  }
  const sender = caller.role === "operator" ? from : caller.name;
  return {
    namespace: caller.namespace,
    dead_letter: status,
    order: "oldest",
    ...(sender === undefined ? {} : { from: sender }),
    ...(code === undefined ? {} : { code }),
    ...(capability === undefined ? {} : { capability }),
    ...(to === undefined ? {} : { to }),
    ...(correlation_id === undefined ? {} : { correlation_id }),
    ...(older_than_ms === undefined ? {} : { accepted_until: now - older_than_ms }),
    ...(younger_than_ms === undefined ? {} : { accepted_from: now - younger_than_ms }),
  };
}

export const getDeadLetter = operation(
  {
    name: "dead_letter",
    method: "GET",
    path: "/v1/dead-letters/{id}",
    tag: "dead letters",
    access: "caller",
    summary: "A dead letter with its input, every attempt, the reason, late outcomes and its history.",
    params: idParams,
    replies: { 200: dead_letter_view },
    problems: [404],
  },
  async ({ relay, caller, params }) => {
    const handoff = await sentHere(relay, caller, params.id);
    const { namespace, id, input } = handoff.accepted;
    const { status } = handoff;
    if (!hasEnded(status) || status.dead_letter === null) throw unknownDeadLetter(params.id);
    const body = await relay.engine.body(namespace, id, "handoff", 0);
    const limit = limits.page_size_most;
    const { events } = await relay.store.events({ namespace, handoff: id, after_pos: 0, limit });
    const { code, error } = status.outcome;
    const questions = [];
    for (const question of handoff.questions) questions.push(await showQuestion(relay, handoff, question.id));
    const outcomes = await outcomeBodies(relay, handoff);
    const shown = {
      reason: { code, name: nameOfCode(code), reason: error?.reason ?? "", message: error?.message ?? "" },
      questions,
      events: events.map(showEvent),
      events_cursor: events.length < limit ? null : makeCursor("event", events.at(-1)?.pos ?? 0),
    };
    const input_member = payloadMember("input", input.media_type, body?.payload ?? null);
    return jsonText(
      withMembers(
        JSON.stringify(shown),
        `"handoff":${handoffJson(handoff, rivalry(relay, caller), { outcomes })}`,
        input_member,
      ),
    );
  },
);

/** For its sender and for operators. */
async function sentHere(relay: Relay, caller: Caller, id: string): Promise<Handoff> {
  const handoff = await seen(relay, caller, id);
  if (caller.role !== "operator" && handoff.accepted.from !== caller.name) throw unknownDeadLetter(id);
  return handoff;
}

/** To be acted on: whoever may see that it is none is told so. */
async function deadLetter(relay: Relay, caller: Caller, id: string): Promise<Handoff> {
  const handoff = await sentHere(relay, caller, id);
  const { status } = handoff;
  if (hasEnded(status) && status.dead_letter !== null) return handoff;
  throw new Problem(409, "not_dead", `Handoff ${id} is ${status.state}, not a dead letter.`, { state: status.state });
}

function unknownDeadLetter(id: string): Problem {
  return new Problem(404, "unknown_dead_letter", `There is no dead letter ${id}, or it is not yours.`);
}

export const redrive = operation(
  {
    name: "redrive",
    method: "POST",
    path: "/v1/dead-letters/{id}/redrive",
    tag: "dead letters",
    access: "caller",
    summary: "Give a dead letter another life, as it is or with edits. The outcome goes to its sender.",
    params: idParams,
    body: plain_redrive,
    signed: signed_body,
    replies: { 202: redrive_reply },
    problems: [403, 404, 406, 409, 413, 422, 428, 507],
  },
  async ({ relay, caller, params, body }) => {
    const letter = await deadLetter(relay, caller, params.id);
    const { redriven_as, repeated } = await redriveOne(relay, caller, letter, body);
    const handoff = await relay.engine.get(caller.namespace, redriven_as);
    const sight = handoff === null ? null : sightOf(handoff, caller);
    const shown = sight === null ? "null" : handoffJson(sight.handoff, rivalry(relay, caller));
    return jsonText(withMembers(JSON.stringify({ id: params.id, redriven_as, repeated }), `"handoff":${shown}`), 202);
  },
);

type Edits = Static<typeof plain_redrive>;

async function redriveOne(relay: Relay, caller: Caller, letter: Handoff, body: Edits | SignedBody) {
  const { namespace, id, from, artifacts } = letter.accepted;
  const act =
    "signed" in body
      ? await signedRedrive(relay, caller, letter, body)
      : await attestedRedrive(relay, caller, letter, body);
  const submission = await submissionOf(relay, caller, act, {
    from,
    redrive_of: id,
    redriven_by: caller.name,
    artifacts,
  });
  const answer = await relay.engine.redrive(namespace, id, actorOf(caller), submission);
  if (answer.refusal !== null) throw refused(answer.refusal);
  const { redriven_as } = answer;
  if (redriven_as === null) throw new Error(`the engine redrove ${id} as nothing`);
  return { redriven_as, repeated: redriven_as !== act.document.id };
}

async function signedRedrive(relay: Relay, caller: Caller, letter: Handoff, { signed }: SignedBody) {
  const act = await signedAct(relay, caller, "handoff", signed, ({ input }) => input);
  const { document } = act;
  const { id, from } = letter.accepted;
  const behalf = caller.name === from ? (document.on_behalf_of ?? from) : document.on_behalf_of;
  const wrong = [...(document.redrive_of === id ? [] : ["redrive_of"]), ...(behalf === from ? [] : ["on_behalf_of"])];
  if (wrong.length > 0) throw bindsAnother(wrong);
  return act;
}

/** What a redrive keeps of the first document. Its parent's lease is over, so it stands on its own. */
const kept = [
  "kind",
  "to",
  "capability",
  "version",
  "conversation_id",
  "ordering_key",
  "priority",
  "labels",
  "expects",
  "contract",
  "limits",
  "budget",
  "dead_letter_to",
  "evidence",
  "artifacts",
  "traceparent",
  "ext",
] as const satisfies readonly (keyof HandoffDocument)[];

/** Under this name an unedited redrive carries the sender's own document and proof. */
const original_ext = "https://handfast.dev/ext/redriven-document";

async function attestedRedrive(relay: Relay, caller: Caller, letter: Handoff, edits: Edits): Promise<Act<"handoff">> {
  const { accepted } = letter;
  const body = await relay.engine.body(accepted.namespace, accepted.id, "handoff", 0);
  if (body === null || body.document === null || body.payload === null) throw unknownDeadLetter(accepted.id);
  const first = JSON.parse(body.document) as HandoffDocument;
  const { input, text, limits: edited_limits, to, capability, queue_if_absent } = edits;
  if (input !== undefined && text !== undefined) {
    throw new Problem(400, "one_input", 'Give either "input" or "text", not both.', { fields: ["/input", "/text"] });
  }
  const edited = input !== undefined ? sealJson(relay, input) : text !== undefined ? sealText(relay, text) : null;
  const sealed: Sealed = edited ?? { bytes: body.payload, digest: first.input };
  const target = to === undefined && capability === undefined ? {} : { to: to ?? null, capability: capability ?? null };
  const id = makeId(relay.engine.now(), relay.randomBytes(10));
  // To another target it goes without the contract, which is with one provider; and a version is one of its capability.
  const lost = new Set<string>(capability === accepted.capability ? ["contract"] : ["contract", "version"]);
  const same = Object.keys(target).length === 0 ? kept : kept.filter((name) => !lost.has(name));
  const said = {
    ...Object.fromEntries(same.flatMap((name) => (first[name] === undefined ? [] : [[name, first[name]]]))),
    ...Object.fromEntries(Object.entries(target).map(([name, value]) => [name, value ?? undefined])),
    ...(edited_limits === undefined ? {} : { limits: { ...first.limits, ...edited_limits } satisfies Limits }),
    ...(queue_if_absent === undefined ? {} : { queue_if_absent }),
    id,
    idempotency_key: `${reserved_key_prefix}redrive:${accepted.id}`,
    correlation_id: accepted.correlation_id,
    redrive_of: accepted.id,
    ...(caller.name === accepted.from ? {} : { on_behalf_of: accepted.from }),
    input: sealed.digest,
  };
  const unedited = Object.values(edits).every((value) => value === undefined);
  const act = attestedAct(relay, "handoff", caller.name, said, sealed);
  if (!unedited) return act;
  const original = { document: body.document, proof: body.proof === null ? null : JSON.parse(body.proof) };
  const carrying = attestedAct(
    relay,
    "handoff",
    caller.name,
    { ...said, ext: { ...first.ext, [original_ext]: original } },
    sealed,
  );
  return Buffer.byteLength(carrying.text) <= protocolLimits.document_bytes ? carrying : act;
}

export const redriveMany = operation(
  {
    name: "redrive_many",
    method: "POST",
    path: "/v1/dead-letters/redrive",
    tag: "dead letters",
    access: "caller",
    summary: "Redrive many: first a dry run that fixes the set, then its plan runs exactly that set.",
    body: bulk_redrive,
    replies: { 200: Type.Union([redrive_plan, bulk_redrive_reply]) },
    problems: [404, 413],
  },
  async ({ relay, caller, body, signal }) => {
    const { dry_run, filter, plan } = body;
    if ((plan === undefined) === (dry_run === undefined) || (plan !== undefined && filter !== undefined)) {
      const detail = 'Give {"dry_run": true, "filter": {…}} first, then {"plan": …} with the plan it names.';
      throw new Problem(400, "plan_first", detail, { fields: ["/dry_run", "/plan"] });
    }
    if (plan !== undefined) return json(await run(relay, caller, await readPlan(relay, caller, plan), signal));
    const ids = await matching(relay, caller, filter ?? {});
    return json(await planDraft(relay, caller, ids));
  },
);

async function matching(relay: Relay, caller: Caller, filter: Omit<Filter, "limit" | "cursor">): Promise<string[]> {
  const query = deadQuery(relay, caller, filter);
  const ids: string[] = [];
  let place: Pick<ListQuery, "after"> = {};
  for (;;) {
    const page = await relay.store.list({ ...query, ...place, limit: limits.page_size_most });
    ids.push(...page.handoffs.map(({ accepted }) => accepted.id));
    if (ids.length > limits.redrive_set) {
      const detail = `More than ${limits.redrive_set} dead letters fit; narrow the filter.`;
      throw new Problem(413, "set_too_large", detail, { fields: ["/filter"] });
    }
    if (page.after === null) return ids;
    place = { after: page.after };
  }
}

/** So many at a time: they share commits without filling the engine's queue. */
const redrives_at_once = 32;

async function run(relay: Relay, caller: Caller, { plan, ids }: Plan, signal: AbortSignal) {
  const refusals: { id: string; code: number; reason: string }[] = [];
  let redriven = 0;
  let already_redriven = 0;
  const one = async (id: string) => {
    try {
      const { repeated } = await redriveOne(relay, caller, await deadLetter(relay, caller, id), {});
      if (repeated) already_redriven += 1;
      else redriven += 1;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals.push({ id, code: error.code, reason: error.reason });
    }
  };
  for (let at = 0; at < ids.length && !signal.aborted; at += redrives_at_once) {
    await Promise.all(ids.slice(at, at + redrives_at_once).map(one));
  }
  return { plan, count: ids.length, redriven, already_redriven, refused: refusals };
}

export const discard = operation(
  {
    name: "discard",
    method: "POST",
    path: "/v1/dead-letters/{id}/discard",
    tag: "dead letters",
    access: "caller",
    summary: "Let a dead letter go.",
    params: idParams,
    body: Type.Object({}, closed),
    replies: { 200: handoff_view },
    problems: [404, 409],
  },
  async ({ relay, caller, params }) => {
    await deadLetter(relay, caller, params.id);
    const command = { type: "discard", actor: actorOf(caller) } as const;
    return jsonText(
      handoffJson(
        accomplished(await relay.engine.perform(caller.namespace, params.id, command)),
        rivalry(relay, caller),
      ),
    );
  },
);
