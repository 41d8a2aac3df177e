/** What the holder of a lease does while it works: acknowledge, beat, checkpoint, give back. */

import type { Handoff } from "@handfast/core";
import type { AckDocument } from "@handfast/protocol";
import {
  checkpoint_reply,
  checkpoint_request,
  heartbeat_reply,
  heartbeat_request,
  held_reply,
  plain_ack,
  release_request,
  type SignedBody,
  signed_body,
} from "@handfast/protocol/wire";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Act, attestedAct, signedAct } from "./acts.ts";
import { accomplished, checkBinding, type Holding, holdingOf } from "./holding.ts";
import { json, operation } from "./operation.ts";
import { sealJson } from "./payloads.ts";
import { conversationOf } from "./questions.ts";
import { idParams } from "./read.ts";
import type { Relay } from "./relay.ts";

/** What a worker needs to know after each of its acts. */
export function showHeld(relay: Relay, handoff: Handoff) {
  const { accepted, status, fence } = handoff;
  const at = relay.engine.now();
  return {
    id: accepted.id,
    state: status.state,
    fence,
    lease_ms: accepted.terms.lease_ms,
    deadline_ms: Math.max(0, accepted.deadline_at - at),
    at,
  };
}

const workerAct = { tag: "workers", access: "caller", params: idParams } as const;

export const ack = operation(
  {
    ...workerAct,
    name: "ack",
    method: "POST",
    path: "/v1/handoffs/{id}/ack",
    summary: '"I have it and I take it."',
    body: plain_ack,
    signed: signed_body,
    replies: { 200: held_reply },
    problems: [403, 404, 408, 410, 412],
  },
  async ({ relay, caller, params, body }) => {
    const { holding, act } = await ackOf(relay, caller, params.id, body);
    const { agent, fence } = holding;
    const enclosure = {
      body: { kind: "ack", document: act.text, proof: act.proof, payload: null },
      artifacts: [],
    } as const;
    const command = { type: "ack", agent, fence, evidence: act.evidence } as const;
    const answer = await relay.engine.perform(caller.namespace, params.id, command, enclosure);
    return { ...json(showHeld(relay, accomplished(answer))), leases: [{ id: params.id, fence }] };
  },
);

async function ackOf(
  relay: Relay,
  caller: Caller,
  id: string,
  body: { readonly fence: number; readonly worker?: string } | SignedBody,
): Promise<{ readonly holding: Holding; readonly act: Act<"ack"> }> {
  if ("signed" in body) {
    const act = await signedAct(relay, caller, "ack", body.signed, () => undefined);
    const holding = await holdingOf(relay, caller, id, act.document);
    checkBinding(holding, act.document);
    return { holding, act };
  }
  const holding = await holdingOf(relay, caller, id, body);
  return { holding, act: attestedAct(relay, "ack", holding.agent, boundTo(holding), null) };
}

/** What ack and outcome bind. */
export function boundTo({
  handoff,
  fence,
  worker,
  manifest,
}: Holding): Pick<AckDocument, "id" | "handoff" | "fence" | "worker" | "manifest"> {
  return { id: handoff.accepted.id, handoff: handoff.accepted.digest, fence, worker, manifest };
}

export const heartbeat = operation(
  {
    ...workerAct,
    name: "heartbeat",
    method: "POST",
    path: "/v1/handoffs/{id}/heartbeat",
    summary:
      "Keep the lease, say how far the work is; the answer tells of an answered question, a cancellation, an end.",
    body: heartbeat_request,
    replies: { 200: heartbeat_reply },
    problems: [403, 404, 408, 410, 412, 413],
  },
  async ({ relay, caller, params, body }) => {
    const { agent, fence } = await holdingOf(relay, caller, params.id, body);
    const { progress } = body;
    if ((progress?.note?.length ?? 0) > limits.progress_note_chars) {
      const detail = `A note has at most ${limits.progress_note_chars} characters.`;
      throw new Problem(413, "note_too_long", detail, { fields: ["/progress/note"] });
    }
    const command = {
      type: "beat",
      agent,
      fence,
      progress: progress === undefined ? null : { fraction: progress.fraction ?? null, note: progress.note ?? null },
    } as const;
    const handoff = accomplished(await relay.engine.perform(caller.namespace, params.id, command));
    const question = await lastQuestion(relay, handoff, fence);
    return json({ ...showHeld(relay, handoff), ...(question === undefined ? {} : { question }) });
  },
);

/** The last question of this lease, once it is resolved: the worker that waits for it learns it here. */
async function lastQuestion(relay: Relay, handoff: Handoff, fence: number) {
  const last = handoff.questions.findLast((question) => question.fence === fence);
  if (last === undefined) return undefined;
  if (last.resolution === null) return { id: last.id, resolution: null };
  const [told] = await conversationOf(relay, { ...handoff, questions: handoff.questions }, last.id);
  if (told === undefined) return undefined;
  const { id, resolution, answer, by } = told;
  return { id, resolution, ...(answer === undefined ? {} : { answer }), ...(by === undefined ? {} : { by }) };
}

export const checkpoint = operation(
  {
    ...workerAct,
    name: "checkpoint",
    method: "POST",
    path: "/v1/handoffs/{id}/checkpoint",
    summary: "Keep a state, durably, from which the next attempt can go on.",
    body: checkpoint_request,
    replies: { 200: checkpoint_reply },
    problems: [403, 404, 408, 409, 410, 412, 413, 507],
  },
  async ({ relay, caller, params, body }) => {
    const { agent, fence } = await holdingOf(relay, caller, params.id, body);
    const sealed = sealJson(relay, body.state);
    if (sealed.bytes.length > limits.checkpoint_bytes) {
      const detail = `The checkpoint has ${sealed.bytes.length} bytes; at most ${limits.checkpoint_bytes} are kept.`;
      throw new Problem(413, "checkpoint_too_large", detail, { fields: ["/state"] });
    }
    const enclosure = {
      body: { kind: "checkpoint", document: null, proof: null, payload: sealed.bytes },
      artifacts: [],
    } as const;
    const command = { type: "checkpoint", agent, fence, state: sealed.digest } as const;
    const handoff = accomplished(await relay.engine.perform(caller.namespace, params.id, command, enclosure));
    return json({ ...showHeld(relay, handoff), number: handoff.checkpoint?.number ?? 0 });
  },
);

export const release = operation(
  {
    ...workerAct,
    name: "release",
    method: "POST",
    path: "/v1/handoffs/{id}/release",
    summary: "Give a lease back: the worker shuts down. No attempt is counted.",
    body: release_request,
    replies: { 200: held_reply },
    problems: [403, 404, 408, 410, 412],
  },
  async ({ relay, caller, params, body }) => {
    const { agent, fence, worker } = await holdingOf(relay, caller, params.id, body, "ends");
    relay.directory.left(agent, worker);
    const answer = await relay.engine.perform(caller.namespace, params.id, { type: "release", agent, fence });
    return json(showHeld(relay, accomplished(answer)));
  },
);
