/** Looking at handoffs: one, a list, the outcomes not yet taken, a whole correlation. */

import { type Handoff, hasEnded } from "@handfast/core";
import { type Body, type ListQuery, type Page, wakeKey } from "@handfast/engine";
import { closed, fields } from "@handfast/protocol";
import {
  correlation_view,
  followed_query,
  type HandoffFilter,
  handoff_filter,
  handoff_page,
  handoff_view,
  outcome_page,
} from "@handfast/protocol/wire";
import Type from "typebox";
import type { IsRival } from "../directory/directory.ts";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { boundedPage } from "./bounded-page.ts";
import { isPosition, makeCursor, readCursor } from "./cursor.ts";
import { jsonBytes } from "./json-bytes.ts";
import { withMembers } from "./json-text.ts";
import { jsonList, jsonText, operation } from "./operation.ts";
import { agentOf, rivalry, seenAs, shownOf } from "./parties.ts";
import type { Relay } from "./relay.ts";
import { type Sight, seesBody, sightOf } from "./sight.ts";
import { codeOf, handoffJson, type ViewBodies } from "./view.ts";
import { readUntil } from "./watch.ts";

export const idParams = Type.Object({ id: fields.id });

export const getHandoff = operation(
  {
    name: "get",
    method: "GET",
    path: "/v1/handoffs/{id}",
    tag: "handoffs",
    access: "caller",
    summary: "How a handoff goes. Waits, if asked to, until it is acknowledged or ended.",
    params: idParams,
    query: Type.Object(
      {
        until: Type.Optional(Type.Enum(["acknowledged", "ended"])),
        input: Type.Optional(Type.Boolean({ description: "Show the input too." })),
        proofs: Type.Optional(Type.Boolean({ description: "Show every document and proof." })),
      },
      closed,
    ),
    waits: true,
    replies: { 200: handoff_view },
    problems: [404],
  },
  async ({ relay, caller, params, query, wait_ms, signal, room }) => {
    const isReady = query.until === "acknowledged" ? isAcknowledged : isEnded;
    const asked_at = relay.engine.now();
    const read = () => seenAs(relay, caller, params.id, asked_at);
    const isOver = (sight: Sight | null) => sight === null || sight.as === "former_holder" || isReady(sight.handoff);
    const concerns = (handoff: Handoff) => isOver(sightOf(handoff, caller));
    const sight = await untilReady(relay, caller, params.id, wait_ms, signal, read, isOver, concerns);
    await room(viewBytes(sight.handoff, query));
    return jsonText(handoffJson(sight.handoff, rivalry(relay, caller), await bodiesOf(relay, caller, sight, query)));
  },
);

/** Of everything that happens to it, only what it is waited for is worth a second reading. */
export function untilReady<T>(
  relay: Relay,
  { namespace }: Caller,
  id: string,
  wait_ms: number,
  signal: AbortSignal,
  read: () => T | Promise<T>,
  isOver: (value: T) => boolean,
  isReady: (handoff: Handoff) => boolean,
): Promise<T> {
  const concerns = () => {
    const known = relay.engine.remembered(namespace, id);
    return known === undefined || isReady(known);
  };
  const keys = [wakeKey.handoff(namespace, id)];
  return readUntil(relay.engine.wakeups, keys, wait_ms, signal, read, isOver, { concerns });
}

/** About what a view of it takes, with what its agents said in the end. */
export function viewBytes(
  { accepted, status, late }: Handoff,
  { input = false, proofs = false }: { readonly input?: boolean; readonly proofs?: boolean } = {},
): number {
  const outcomes = [...(hasEnded(status) ? [status.outcome] : []), ...late.map(({ outcome }) => outcome)];
  const output_bytes = outcomes.reduce((bytes, { output }) => bytes + (output?.size ?? 0), 0);
  const shown_bytes = output_bytes + (input ? accepted.input.size : 0);
  return limits.record_bytes + shown_bytes + (proofs ? output_bytes + accepted.input.size : 0);
}

export function isEnded({ status }: Handoff): boolean {
  return hasEnded(status);
}

/** An agent took it: it may be past that by now, or have ended without. */
function isAcknowledged({ status }: Handoff): boolean {
  return status.state === "working" || status.state === "waiting" || hasEnded(status);
}

async function bodiesOf(
  relay: Relay,
  caller: Caller,
  sight: Sight,
  { input, proofs }: { readonly input?: boolean; readonly proofs?: boolean },
): Promise<ViewBodies> {
  const { namespace, id } = sight.handoff.accepted;
  const receipts = async () =>
    (await relay.store.bodies(namespace, id)).filter((body) => seesBody(sight, caller, body));
  return {
    outcomes: await outcomeBodies(relay, sight.handoff),
    ...(input === true ? { input: await relay.engine.body(namespace, id, "handoff", 0) } : {}),
    ...(proofs === true ? { receipts: lightened(await receipts()) } : {}),
  };
}

/** Every document and proof, and the payloads beside them as far as one reply holds them: their digests are told anyway. */
function lightened(bodies: readonly Body[]): readonly Body[] {
  let left_bytes: number = limits.reply_bytes;
  return bodies.map((body) => {
    left_bytes -= body.payload === null ? 0 : jsonBytes(body.payload);
    return left_bytes < 0 ? { ...body, payload: null } : body;
  });
}

/** What the agents said in the outcome and in late ones, by fence: of those as many as one reply holds. */
export async function outcomeBodies(relay: Relay, { accepted, status, late }: Handoff): Promise<Map<number, Body>> {
  const outcomes = [...(hasEnded(status) ? [status.outcome] : []), ...late.map(({ outcome }) => outcome)];
  const bodies = new Map<number, Body>();
  let left_bytes: number = limits.reply_bytes;
  for (const { fence, evidence } of outcomes) {
    if (fence === null || evidence === "relay") continue;
    const body = await relay.engine.body(accepted.namespace, accepted.id, "outcome", fence);
    if (body === null) continue;
    // The only one fits, however its bytes are written.
    if (outcomes.length > 1)
      left_bytes -= body.payload === null ? (body.document?.length ?? 0) : jsonBytes(body.payload);
    if (left_bytes < 0) break;
    bodies.set(fence, body);
  }
  return bodies;
}

export const listHandoffs = operation(
  {
    name: "list",
    method: "GET",
    path: "/v1/handoffs",
    tag: "handoffs",
    access: "caller",
    summary: "Handoffs that the caller is a party of; an operator sees all.",
    query: handoff_filter,
    replies: { 200: handoff_page },
  },
  async ({ relay, caller, query }) => {
    const asked = { ...listQuery(query, caller), ...ownOnly(caller) };
    const list = async (limit: number) => {
      const { handoffs, after } = await relay.store.list({ ...asked, limit });
      return { handoffs: shownOf(handoffs, caller), after };
    };
    const { page, texts } = await boundedPage(await list(asked.limit), list, (handoff) =>
      handoffJson(handoff, rivalry(relay, caller)),
    );
    return jsonList("handoffs", texts, { cursor: listCursor(page.after) });
  },
);

/** What a list shows to this caller, as far as the store can tell: it need not look at the rest. */
export function ownOnly(caller: Caller): Pick<ListQuery, "party"> {
  return caller.role === "operator" ? {} : { party: caller.name };
}

function listQuery(filter: HandoffFilter, { namespace }: Caller): ListQuery {
  const { label, cursor, limit, order, ...rest } = filter;
  return {
    namespace,
    ...rest,
    ...(label === undefined ? {} : { label: splitLabel(label) }),
    ...listPlace(cursor),
    order: order ?? "newest",
    limit: limit ?? limits.page_size_default,
  };
}

function splitLabel(label: string): { key: string; value: string } {
  const colon = label.indexOf(":");
  return { key: label.slice(0, colon), value: label.slice(colon + 1) };
}

export function listPlace(cursor: string | undefined): Pick<ListQuery, "after"> {
  if (cursor === undefined) return {};
  const after = readCursor("list", cursor);
  if (after === null || !isPosition(after)) throw badCursor();
  return { after };
}

export function listCursor(after: string | null): string | null {
  return after === null ? null : makeCursor("list", after);
}

export function badCursor(): Problem {
  return new Problem(400, "bad_cursor", "The cursor is not one of this list; begin without one.", {
    fields: ["/cursor"],
  });
}

export const listOutcomes = operation(
  {
    name: "outcomes",
    method: "GET",
    path: "/v1/outcomes",
    tag: "handoffs",
    access: "caller",
    summary: "Outcomes that the caller has not taken, oldest first. A sender that lost its ids finds them here.",
    query: followed_query,
    waits: true,
    replies: { 200: outcome_page },
    problems: [403],
  },
  async ({ relay, caller, query, wait_ms, signal, room }) => {
    const from = agentOf(caller);
    const { namespace } = caller;
    const most = Math.min(query.limit ?? limits.page_size_default, limits.page_size_default);
    const place = listPlace(query.cursor);
    const list = (limit: number) =>
      relay.store.list({ namespace, from, untaken: true, order: "oldest", limit, ...place });
    const key = wakeKey.sender(namespace, from);
    const isEmpty = async () => (await list(1)).handoffs.length === 0;
    // Whoever waits, and then for room, keeps nothing in memory meanwhile.
    if (wait_ms > 0) await untilNews(relay, key, query.since, wait_ms, signal, isEmpty);
    await room(limits.reply_bytes);
    const mark = relay.engine.wakeups.mark(key);
    const first = await list(most);
    const { page, texts } = await boundedPage(first, list, async (handoff) =>
      handoffJson(handoff, rivalry(relay, caller), { outcomes: await outcomeBodies(relay, handoff) }),
    );
    return jsonList("handoffs", texts, { cursor: listCursor(page.after), mark });
  },
);

/**
 * Waits while a followed list is empty or, for whoever knows it as it was at a mark, until something has come into it
 * since. A mark of another life of the relay is as good as none: it is answered at once.
 */
export async function untilNews(
  { engine: { wakeups } }: Relay,
  key: string,
  since: string | undefined,
  wait_ms: number,
  signal: AbortSignal,
  isEmpty: () => Promise<boolean>,
): Promise<void> {
  const isQuiet = since === undefined ? isEmpty : () => wakeups.mark(key) === since;
  await readUntil(wakeups, [key], wait_ms, signal, isQuiet, (quiet) => !quiet);
}

export const correlationParams = Type.Object({ id: fields.text_id });

export const getCorrelation = operation(
  {
    name: "correlation",
    method: "GET",
    path: "/v1/correlations/{id}",
    tag: "handoffs",
    access: "caller",
    summary: "The handoffs of a correlation as a tree by causation, with a summary. A party sees its own.",
    params: correlationParams,
    query: Type.Object({ cursor: handoff_filter.properties.cursor }, closed),
    replies: { 200: correlation_view },
    problems: [404],
  },
  async ({ relay, caller, params, query }) => {
    const { handoffs, after } = await correlationOf(relay, caller, params.id, query.cursor);
    if (handoffs.length === 0) throw unknownCorrelation(params.id);
    const shown = { correlation_id: params.id, summary: summaryOf(handoffs), cursor: listCursor(after) };
    const isRival = rivalry(relay, caller);
    return jsonText(
      withMembers(
        JSON.stringify(shown),
        `"tree":[${treeOf(handoffs)
          .map((node) => nodeJson(node, isRival))
          .join(",")}]`,
      ),
    );
  },
);

export function unknownCorrelation(id: string): Problem {
  return new Problem(
    404,
    "unknown_correlation",
    `There is no correlation ${JSON.stringify(id)}, or you have no part in it.`,
  );
}

/** Of one correlation what the caller may see, oldest first, up to the limit of a tree and of what a reply holds. */
export async function correlationOf(
  relay: Relay,
  caller: Caller,
  correlation_id: string,
  cursor?: string,
): Promise<{ readonly handoffs: readonly Handoff[]; readonly after: string | null }> {
  const handoffs: Handoff[] = [];
  let left_bytes: number = limits.reply_bytes;
  let place = listPlace(cursor);
  for (;;) {
    const list = async (limit: number) => {
      const { handoffs: found, after } = await correlationPage(relay, caller, correlation_id, place, limit);
      return { handoffs: shownOf(found, caller), after };
    };
    const first = await list(limits.page_size_most);
    const { page, texts } = await boundedPage(
      first,
      list,
      (handoff) => handoffJson(handoff, rivalry(relay, caller)),
      left_bytes,
    );
    handoffs.push(...page.handoffs);
    for (const text of texts) left_bytes -= Buffer.byteLength(text);
    const isFull = left_bytes <= 0 || page !== first || handoffs.length >= limits.tree_handoffs;
    if (page.after === null || isFull) return { handoffs, after: page.after };
    place = { after: page.after };
  }
}

/** Whoever's they are. */
export function correlationPage(
  relay: Relay,
  { namespace }: Caller,
  correlation_id: string,
  place: Pick<ListQuery, "after">,
  limit: number,
): Promise<Page> {
  return relay.store.list({ namespace, correlation_id, order: "oldest", limit, ...place });
}

function summaryOf(handoffs: readonly Handoff[]) {
  const by_state: Record<string, number> = {};
  const by_code: Record<string, number> = {};
  let ended = 0;
  for (const handoff of handoffs) {
    const { state } = handoff.status;
    const code = String(codeOf(handoff));
    by_state[state] = (by_state[state] ?? 0) + 1;
    by_code[code] = (by_code[code] ?? 0) + 1;
    if (hasEnded(handoff.status)) ended += 1;
  }
  return { total: handoffs.length, open: handoffs.length - ended, ended, by_state, by_code };
}

interface TreeNode {
  readonly handoff: Handoff;
  readonly children: TreeNode[];
}

/** Hops are limited, and with them how deep this goes. */
function nodeJson({ handoff, children }: TreeNode, isRival: IsRival): string {
  const below = children.map((child) => nodeJson(child, isRival));
  return `{"handoff":${handoffJson(handoff, isRival)},"children":[${below.join(",")}]}`;
}

/** A child whose parent is not among them stands at the top. */
function treeOf(handoffs: readonly Handoff[]): readonly TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  for (const handoff of handoffs) nodes.set(handoff.accepted.id, { handoff, children: [] });
  const roots: TreeNode[] = [];
  for (const { accepted } of handoffs) {
    const node = nodes.get(accepted.id);
    if (node === undefined) continue;
    const parent = accepted.causation === null ? undefined : nodes.get(accepted.causation.id);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
