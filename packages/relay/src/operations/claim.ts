/** A worker asks for work, and gets everything it needs to do it. */

import { type Handoff, liveLease } from "@handfast/core";
import { type HandoffDocument, makeId } from "@handfast/protocol";
import { claim_reply, claim_request, type LeaseView } from "@handfast/protocol/wire";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { pauses } from "./bounded-page.ts";
import { withMembers } from "./json-text.ts";
import { type JsonReply, jsonList, operation } from "./operation.ts";
import { agentOf } from "./parties.ts";
import { asJson, asText, payloadMember } from "./payloads.ts";
import { conversationOf } from "./questions.ts";
import type { Relay } from "./relay.ts";
import { showFailures, signedJson } from "./view.ts";

export const claim = operation(
  {
    name: "claim",
    method: "POST",
    path: "/v1/claims",
    tag: "workers",
    access: "caller",
    summary:
      "Ask for work: as many leases as there are free slots. Repeated with its request_id, it returns the same leases.",
    body: claim_request,
    waits: true,
    replies: { 200: claim_reply },
    problems: [403, 404],
  },
  async ({ relay, caller, body, wait_ms, signal, room }): Promise<JsonReply> => {
    const agent = agentOf(caller);
    const { namespace } = caller;
    const { worker, slots = 1, request_id = makeId(relay.engine.now(), relay.randomBytes(10)), capabilities } = body;
    const named = capabilities && (await queuesNamed(relay, agent, capabilities));
    relay.directory.seen(agent, worker, "asks");
    const offer = relay.directory.offer(agent);
    const leased = await relay.engine.claim({
      namespace,
      agent,
      worker,
      queues: () => named ?? relay.directory.queues(agent, null),
      ...(capabilities === undefined ? {} : { only: new Set(capabilities) }),
      slots,
      request_id,
      wait_ms,
      offer,
      signal,
    });
    const giveBack = (handoffs: readonly Handoff[]) =>
      relay.engine.undelivered(
        namespace,
        handoffs.filter(isUnacknowledged).map(({ accepted, fence }) => ({ id: accepted.id, fence, agent })),
      );
    try {
      await room(leaseBytes(leased, body.proofs === true));
      const { shown, texts } = await fill(relay, leased, body.proofs === true);
      await giveBack(leased.slice(shown));
      const given = leased.slice(0, shown);
      const leases = given.map(({ accepted, fence }) => ({ id: accepted.id, fence }));
      return { ...jsonList("leases", texts), leases, undelivered: () => giveBack(given) };
    } catch (error) {
      await giveBack(leased);
      throw error;
    }
  },
);

/** A repeated claim names leases that the worker took long ago: those are its own to give back. */
function isUnacknowledged(handoff: Handoff): boolean {
  return liveLease(handoff)?.acknowledged_at === null;
}

/** About what they take in a reply, with what earlier attempts left for them. */
function leaseBytes(leased: readonly Handoff[], proofs: boolean): number {
  let bytes = 0;
  for (const { accepted, checkpoint } of leased) {
    bytes += limits.record_bytes + accepted.input.size * (proofs ? 2 : 1);
    if (checkpoint !== null) bytes += limits.checkpoint_bytes;
  }
  return bytes;
}

/** As many leases as one reply may carry, and how many handoffs that was; the others stay queued. */
async function fill(relay: Relay, leased: readonly Handoff[], proofs: boolean) {
  const texts: string[] = [];
  let bytes = 0;
  const pause = pauses();
  for (const [shown, handoff] of leased.entries()) {
    await pause();
    const text = await leaseJson(relay, handoff, proofs);
    if (text === null) continue;
    bytes += Buffer.byteLength(text);
    if (bytes > limits.reply_bytes && texts.length > 0) return { shown, texts };
    texts.push(text);
  }
  return { shown: leased.length, texts };
}

/** Whoever names what it takes waits for just that, whatever its agent comes to offer besides. */
async function queuesNamed({ directory, catchUp }: Relay, agent: string, capabilities: readonly string[]) {
  // It may have been registered at another node a moment ago.
  if (missingFrom(directory.offers(agent), capabilities).length > 0) await catchUp();
  const missing = missingFrom(directory.offers(agent), capabilities);
  if (missing.length === 0) return directory.queues(agent, capabilities);
  const detail = `Agent ${agent} does not offer ${missing.join(", ")}; register it with its manifest first.`;
  throw new Problem(404, "not_offered", detail, { fields: ["/capabilities"] });
}

function missingFrom(offered: readonly string[], capabilities: readonly string[]): readonly string[] {
  const known = new Set(offered);
  return capabilities.filter((name) => !known.has(name));
}

/** Null where retention or an end came in between: the worker would only be told that the lease is over. */
async function leaseJson(relay: Relay, handoff: Handoff, proofs: boolean): Promise<string | null> {
  const { accepted } = handoff;
  const { namespace, id } = accepted;
  const lease = liveLease(handoff);
  const body = await relay.engine.body(namespace, id, "handoff", 0);
  if (lease === null || body === null || body.document === null) return null;
  const { ext, traceparent, expects, artifacts = [] } = JSON.parse(body.document) as HandoffDocument;
  const view: Omit<LeaseView, "input" | "text" | "base64" | "signed"> = {
    id,
    fence: lease.fence,
    kind: accepted.kind,
    from: accepted.from,
    to: accepted.to,
    capability: accepted.capability,
    correlation_id: accepted.correlation_id,
    causation_id: accepted.causation?.id ?? null,
    conversation_id: accepted.conversation_id,
    idempotency_key: accepted.idempotency_key,
    payload: accepted.input,
    artifacts,
    labels: accepted.labels,
    ...(ext === undefined ? {} : { ext }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(expects === undefined ? {} : { expects }),
    evidence: accepted.evidence,
    demands: accepted.demands,
    ...(accepted.contract === undefined ? {} : { contract: accepted.contract.id }),
    manifest: lease.manifest,
    why: handoff.why ?? null,
    attempt: handoff.attempts + (lease.acknowledged_at === null && !lease.continued ? 1 : 0),
    deadline_ms: Math.max(0, accepted.deadline_at - relay.engine.now()),
    ack_ms: accepted.terms.ack_ms,
    lease_ms: accepted.terms.lease_ms,
    attempt_ms: lease.attempt_left_ms,
    checkpoint: handoff.checkpoint === null ? null : await showCheckpoint(relay, accepted, handoff.checkpoint),
    failures: showFailures(handoff),
    questions: handoff.questions.length === 0 ? [] : await conversationOf(relay, handoff),
    digest: accepted.digest,
  };
  return withMembers(
    JSON.stringify(view),
    payloadMember("input", accepted.input.media_type, body.payload),
    proofs ? `"signed":${signedJson(body)}` : "",
  );
}

async function showCheckpoint(
  relay: Relay,
  accepted: Handoff["accepted"],
  checkpoint: NonNullable<Handoff["checkpoint"]>,
): Promise<LeaseView["checkpoint"]> {
  const body = await relay.engine.body(accepted.namespace, accepted.id, "checkpoint", checkpoint.number);
  const text = body === null || body.payload === null ? null : asText(body.payload);
  return { ...checkpoint, state: text === null ? null : asJson(text) };
}
