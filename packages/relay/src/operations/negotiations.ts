/** Agreeing on terms, before any work: asking for offers, and answering such a call. */

import { wakeKey } from "@handfast/engine";
import {
  type NegotiationView,
  negotiation_request,
  negotiation_view,
  offer_params,
  plain_proposal,
  proposal_call,
  proposal_page,
  proposal_query,
  type SignedBody,
  signed_body,
} from "@handfast/protocol/wire";
import type { Static } from "typebox";
import type { NegotiationRecord } from "../contracts/contract-record.ts";
import { type Answer, proposedTerms, unknownProposal } from "../contracts/negotiating.ts";
import type { FoundCall } from "../contracts/negotiations.ts";
import { showCall, showNegotiation } from "../contracts/show.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { canonicalDigest } from "../schemas/canonical-json.ts";
import { type Act, attestedAct, signedAct } from "./acts.ts";
import { makeCursor, readCursor } from "./cursor.ts";
import { json, jsonList, operation } from "./operation.ts";
import { agentOf, rivalry } from "./parties.ts";
import { badCursor, idParams, untilNews } from "./read.ts";
import type { Relay } from "./relay.ts";
import { readUntil } from "./watch.ts";

export const negotiate = operation(
  {
    name: "negotiate",
    method: "POST",
    path: "/v1/negotiations",
    tag: "contracts",
    access: "caller",
    summary: "Ask for offers that meet a need on these terms. Waits, if asked to, for those that are asked live.",
    body: negotiation_request,
    waits: true,
    replies: { 200: negotiation_view, 202: negotiation_view },
    problems: [403, 404, 406, 409, 413, 429, 507],
  },
  async ({ relay, caller, body, wait_ms, signal, room }) => {
    const name = agentOf(caller);
    const { id, begun } = await relay.negotiating.begin({ name, role: caller.role }, body);
    const is_kept = relay.negotiating.table.get(id) !== undefined;
    const view = is_kept
      ? await untilClosed(relay, caller, id, wait_ms, signal)
      : showNegotiation(id, begun, relay.engine.now(), rivalry(relay, caller));
    if (view.open || view.offers.length > 0) return shown(view, view.open ? 202 : 200, room);
    const { declined, near } = view;
    const detail =
      near.length + declined.length === 0
        ? "Nobody offers anything like it. Ask for less, or start an agent that offers it."
        : "Nobody offers this on these terms. See what the nearest lack (near) and who declined (declined).";
    await room(JSON.stringify({ declined, near }).length);
    throw new Problem(406, "no_offer", detail, { declined, near });
  },
);

export const getNegotiation = operation(
  {
    name: "negotiation",
    method: "GET",
    path: "/v1/negotiations/{id}",
    tag: "contracts",
    access: "caller",
    summary:
      "The offers so far, for whoever asked. Waits, if asked to, until everybody has answered or the time is over.",
    params: idParams,
    waits: true,
    replies: { 200: negotiation_view },
    problems: [404],
  },
  async ({ relay, caller, params, wait_ms, signal, room }) => {
    seenNegotiation(relay, caller, params.id);
    return shown(await untilClosed(relay, caller, params.id, wait_ms, signal), 200, room);
  },
);

/** Offers quote what their providers can do, schemas and all. What waits for room is not their text, but what is kept anyway. */
async function shown(view: NegotiationView, status: number, room: (bytes: number) => Promise<void>) {
  await room(JSON.stringify(view).length);
  return json(view, status);
}

/** Until nobody is left to answer: time decides, so the wait ends with it. */
async function untilClosed(relay: Relay, caller: Caller, id: string, wait_ms: number, signal: AbortSignal) {
  const now = () => relay.engine.now();
  const read = () => showNegotiation(id, seenNegotiation(relay, caller, id), now(), rivalry(relay, caller));
  const left_ms = Math.max(0, seenNegotiation(relay, caller, id).reply_by - now());
  const keys = [wakeKey.negotiation(caller.namespace, id)];
  await readUntil(relay.engine.wakeups, keys, Math.min(wait_ms, left_ms), signal, read, ({ open }) => !open);
  // The last reading was before the time was over, which changes what is to be told.
  return read();
}

/** Offers are shown to the asker only: an operator finds in the log that there were some. */
function seenNegotiation(relay: Relay, caller: Caller, id: string): NegotiationRecord {
  const negotiation = relay.negotiating.table.get(id);
  if (negotiation !== undefined && relay.negotiating.isAsker(negotiation, caller.name)) return negotiation;
  throw new Problem(404, "unknown_negotiation", `There is no negotiation ${id}, or it is not yours.`);
}

export const listProposals = operation(
  {
    name: "proposals",
    method: "GET",
    path: "/v1/proposals",
    tag: "contracts",
    access: "caller",
    summary: "Calls for proposals that are put to the caller and may still be answered.",
    query: proposal_query,
    waits: true,
    replies: { 200: proposal_page },
    problems: [403],
  },
  async ({ relay, caller, query, wait_ms, signal, room }) => {
    const name = agentOf(caller);
    const after = query.cursor === undefined ? "" : readCursor("list", query.cursor);
    if (after === null) throw badCursor();
    relay.directory.seen(name, null);
    const key = wakeKey.proposals(caller.namespace, name);
    const open = () => relay.negotiating.table.openCalls(name, relay.engine.now());
    if (wait_ms > 0) await untilNews(relay, key, query.since, wait_ms, signal, async () => open().length === 0);
    await room(relay.limits.reply_bytes);
    const mark = relay.engine.wakeups.mark(key);
    const { texts, last } = callPage(relay, open(), query.limit ?? relay.limits.page_size_default, after);
    return jsonList("proposals", texts, { cursor: last === null ? null : makeCursor("list", last), mark });
  },
);

/** Bounded in number and in bytes; `last` null: these were all. */
function callPage({ limits }: Relay, open: readonly FoundCall[], limit: number, after: string) {
  const texts: string[] = [];
  let [bytes, last] = [0, after];
  for (const found of open) {
    const { offer_id } = found.call.asked;
    if (offer_id <= after) continue;
    const text = JSON.stringify(showCall(found));
    bytes += Buffer.byteLength(text);
    if (texts.length >= limit || (texts.length > 0 && bytes > limits.reply_bytes)) return { texts, last };
    texts.push(text);
    last = offer_id;
  }
  return { texts, last: null };
}

export const propose = operation(
  {
    name: "propose",
    method: "POST",
    path: "/v1/proposals/{id}",
    tag: "contracts",
    access: "caller",
    summary: "Answer a call: name a price, narrow the limits, or decline. Repeated alike, it is answered alike.",
    params: offer_params,
    body: plain_proposal,
    signed: signed_body,
    replies: { 200: proposal_call },
    problems: [401, 403, 404, 408, 409, 413, 507],
  },
  async ({ relay, caller, params, body }) => {
    const agent = agentOf(caller);
    const found = relay.negotiating.table.call(params.id);
    if (found === null || found.call.asked.agent_id !== agent) throw unknownProposal(params.id);
    const signed = "signed" in body ? await signedProposal(relay, caller, body) : null;
    const answered = await relay.negotiating.answer(params.id, agent, (call) =>
      signed === null ? plainAnswer(relay, agent, call, body as Plain) : signedAnswer(params.id, call, signed),
    );
    return json(showCall(answered));
  },
);

type Plain = Static<typeof plain_proposal>;

function plainAnswer(relay: Relay, agent: string, { call }: FoundCall, body: Plain): Answer {
  const { decline, ...proposed } = body;
  if (decline !== undefined) {
    if (Object.keys(proposed).length === 0) return { kind: "declined", ...decline };
    const detail = "Either decline, or say on which terms; not both.";
    throw new Problem(400, "one_answer", detail, { fields: ["/decline"] });
  }
  const terms = proposedTerms(call.asked.terms, proposed);
  const { text } = attestedAct(relay, "proposal", agent, { offer: terms.offer, terms }, null);
  return { kind: "proposed", terms, said: { document: text, proof: null } };
}

async function signedProposal(relay: Relay, caller: Caller, { signed }: SignedBody): Promise<Act<"proposal">> {
  return signedAct(relay, caller, "proposal", signed, () => undefined);
}

/** What was signed must be what was asked, but for what a proposal may change. */
function signedAnswer(offer_id: string, { call }: FoundCall, { document, text, proof }: Act<"proposal">): Answer {
  const { offer, terms, decline } = document;
  if (offer !== offer_id) throw termsDiffer(["offer"]);
  if (decline !== undefined) return { kind: "declined", ...decline };
  if (terms === undefined) throw new Error("a proposal without terms that declines nothing");
  const { cost, limits, valid_until } = terms;
  const expected = proposedTerms(call.asked.terms, { cost, limits, valid_until });
  const wrong = differing(terms, expected);
  if (wrong.length > 0) throw termsDiffer(wrong.map((name) => `terms/${name}`));
  return { kind: "proposed", terms, said: { document: text, proof: proof === null ? null : JSON.parse(proof) } };
}

/** The members in which two terms differ. */
export function differing(one: object, other: object): readonly string[] {
  const [left, right] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  return names.filter((name) => canonicalDigest([left.get(name)]) !== canonicalDigest([right.get(name)]));
}

export function termsDiffer(wrong: readonly string[]): Problem {
  const detail = `The document is not about this offer: ${wrong.join(", ")} ${wrong.length === 1 ? "differs" : "differ"}. Sign the very terms that were shown.`;
  const fields = wrong.map((name) => `/signed/document/${name}`);
  return new Problem(400, "terms_differ", detail, { fields });
}
