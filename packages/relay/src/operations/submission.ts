/** From a handoff's document to what the engine is asked to accept. */

import { setImmediate } from "node:timers/promises";
import type { Draft, Terms } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import { documentDigest, type HandoffDocument, type Limits } from "@handfast/protocol";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import type { Act } from "./acts.ts";
import { handoffContent } from "./content.ts";
import type { Relay } from "./relay.ts";

/** On whose account it is, where that is not the author of the document: a redrive. */
export interface Redrive {
  readonly from: string;
  readonly redrive_of: string;
  readonly redriven_by: string;
  /** What the first sender was allowed to refer to, so that this one may too. */
  readonly artifacts: readonly string[];
}

export async function submissionOf(
  relay: Relay,
  caller: Caller,
  act: Act<"handoff">,
  redrive: Redrive | null = null,
): Promise<Submission> {
  const { document, payload } = act;
  if (payload === null) throw new Problem(400, "payload_missing", "The handoff has no input.");
  if (document.contract !== undefined) {
    const detail = `There is no contract ${JSON.stringify(document.contract)}: this relay knows none yet. Leave it out.`;
    throw new Problem(428, "unknown_contract", detail, { fields: ["/contract"] });
  }
  const started = performance.now();
  if (document.expects?.output_schema !== undefined) {
    relay.schemas.admit(document.expects.output_schema, "/expects/output_schema");
  }
  // A signed redrive may name any artifact: only those of the dead letter are taken without a look.
  const inherited = new Set(redrive?.artifacts);
  const named = (document.artifacts ?? []).filter(({ sha256 }) => !inherited.has(sha256));
  await relay.artifacts.checkReferences(caller, named);
  const draft = draftOf(relay, act, payload, redrive);
  const { namespace, to, capability } = draft;
  const { media_type } = document.input;
  const target = relay.directory.fit({ namespace, to, capability }, { media_type, bytes: payload });
  // In a batch a thousand of these follow each other: others are served in between.
  if (performance.now() - started > limits.schema_pause_after_ms) await setImmediate();
  return {
    draft,
    queue_if_absent: document.queue_if_absent ?? false,
    target,
    body: { kind: "handoff", number: 0, document: act.text, proof: act.proof, payload },
  };
}

function draftOf(relay: Relay, act: Act<"handoff">, payload: Uint8Array, redrive: Redrive | null): Draft {
  const { document } = act;
  return {
    namespace: relay.configuration.namespace,
    id: document.id,
    kind: document.kind ?? "handoff",
    from: redrive?.from ?? document.from,
    to: document.to ?? null,
    capability: document.capability ?? null,
    idempotency_key: document.idempotency_key ?? document.id,
    content: handoffContent(document, payload),
    digest: documentDigest(nodeCrypto, "handoff", act.text),
    evidence: act.evidence,
    demands: document.evidence ?? "any",
    correlation_id: document.correlation_id ?? null,
    causation: document.causation ?? null,
    conversation_id: document.conversation_id ?? null,
    detached: document.detached ?? false,
    ordering_key: document.ordering_key ?? null,
    priority: document.priority ?? 0,
    labels: document.labels ?? {},
    input: document.input,
    artifacts: (document.artifacts ?? []).map(({ sha256 }) => sha256),
    terms: termsOf(document.limits),
    budget: budgetOf(document.budget),
    dead_letter_to: document.dead_letter_to ?? null,
    redrive_of: redrive?.redrive_of ?? null,
    redriven_by: redrive?.redriven_by ?? null,
  };
}

function termsOf(asked: Limits = {}): Terms {
  const deadline_ms = asked.deadline_ms ?? limits.default_deadline_ms;
  return {
    deadline_ms,
    queue_ms: asked.queue_ms ?? deadline_ms,
    ack_ms: asked.ack_ms ?? limits.default_ack_ms,
    lease_ms: asked.lease_ms ?? limits.default_lease_ms,
    attempt_ms: asked.attempt_ms ?? null,
    max_attempts: asked.max_attempts ?? limits.default_attempts,
    max_deliveries: limits.default_deliveries,
    retry: asked.retry ?? "attempts",
  };
}

function budgetOf(budget: HandoffDocument["budget"]): Draft["budget"] {
  if (budget === undefined) return null;
  return { cost: budget.cost ?? null, tokens: budget.tokens ?? null, handoffs: budget.handoffs ?? null };
}
