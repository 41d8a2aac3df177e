/** From a handoff's document to what the engine is asked to accept. */

import { setImmediate } from "node:timers/promises";
import type { Draft, TargetFit, Terms, UnderContract } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import { documentDigest, type HandoffDocument, type Limits } from "@handfast/protocol";
import { fitsAsAgreed, unfitByContract } from "../contracts/asker-schemas.ts";
import { type Under, underContract } from "../contracts/under-contract.ts";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import type { Act } from "./acts.ts";
import { handoffContent } from "./content.ts";
import type { Relay } from "./relay.ts";
import { checkVersionAsked } from "./version-asked.ts";

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
  if (document.to?.includes("@") === true) throw foreignAgent(document.to);
  const from = redrive?.from ?? document.from;
  const started = performance.now();
  if (document.expects?.output_schema !== undefined) {
    relay.schemas.admit(document.expects.output_schema, "/expects/output_schema");
  }
  const applied =
    document.contract === undefined ? null : underContract(relay.contracts, from, document, act.evidence === "signed");
  // A signed redrive may name any artifact: only those of the dead letter are taken without a look.
  const inherited = new Set(redrive?.artifacts);
  const named = (document.artifacts ?? []).filter(({ sha256 }) => !inherited.has(sha256));
  await relay.artifacts.checkReferences(caller, named);
  const under = applied?.kind === "under" ? applied : null;
  const draft = draftOf(relay, act, payload, redrive, under);
  const content = { media_type: document.input.media_type, bytes: payload };
  const target: TargetFit =
    applied?.kind === "refused"
      ? { kind: "out_of_contract", refusal: applied.refusal }
      : ((under === null ? null : unfitByContract(relay.schemas, under.record, content)) ??
        relay.directory.fit(draft, content));
  // In a batch a thousand of these follow each other: others are served in between.
  if (performance.now() - started > limits.schema_pause_after_ms) await setImmediate();
  return {
    draft,
    // Whoever agreed may be gone by now: then the handoff ends as any, and the contract is broken.
    queue_if_absent: under !== null || (document.queue_if_absent ?? false),
    target,
    body: { kind: "handoff", number: 0, document: act.text, proof: act.proof, payload },
  };
}

function draftOf(
  relay: Relay,
  act: Act<"handoff">,
  payload: Uint8Array,
  redrive: Redrive | null,
  under: Under | null,
): Draft {
  const { document } = act;
  return {
    namespace: relay.configuration.namespace,
    id: document.id,
    kind: document.kind ?? "handoff",
    from: redrive?.from ?? document.from,
    to: under?.to ?? document.to ?? null,
    capability: under?.capability ?? document.capability ?? null,
    ...versionsOf(relay, under === null ? document : { ...document, to: under.to }),
    idempotency_key: document.idempotency_key ?? document.id,
    content: handoffContent(document, payload),
    digest: documentDigest(nodeCrypto, "handoff", act.text),
    evidence: act.evidence,
    demands: under?.demands ?? document.evidence ?? "any",
    correlation_id: document.correlation_id ?? null,
    causation: document.causation ?? null,
    conversation_id: document.conversation_id ?? null,
    detached: document.detached ?? false,
    ordering_key: document.ordering_key ?? null,
    priority: document.priority ?? 0,
    labels: document.labels ?? {},
    input: document.input,
    artifacts: (document.artifacts ?? []).map(({ sha256 }) => sha256),
    terms: under === null ? termsOf(document.limits) : { ...under.terms, max_deliveries: limits.default_deliveries },
    budget: budgetOf(document.budget),
    dead_letter_to: document.dead_letter_to ?? null,
    redrive_of: redrive?.redrive_of ?? null,
    redriven_by: redrive?.redriven_by ?? null,
    ...(under === null ? {} : { contract: checkedContract(relay, under, document, payload) }),
  };
}

/** What the provider took as input when it agreed, it cannot call unfit. */
function checkedContract(
  relay: Relay,
  { contract, record }: Under,
  { input: { media_type } }: HandoffDocument,
  bytes: Uint8Array,
): UnderContract {
  return fitsAsAgreed(relay.schemas, record, { media_type, bytes }) ? { ...contract, input_fits: true } : contract;
}

/** Which versions of the capability may take it: those its sender asks for, else those that a route puts it under. */
function versionsOf(
  relay: Relay,
  { id, to, capability, contract, version }: HandoffDocument,
): Pick<Draft, "version_range" | "canary"> {
  if (version !== undefined) {
    // A contract names the capability, also one that is refused in a moment for another reason.
    if (capability === undefined && contract === undefined) throw versionOfNothing(version);
    checkVersionAsked(version);
    return { version_range: version };
  }
  const canary = to === undefined && capability !== undefined ? relay.routes.rangeFor(capability, id) : null;
  return canary === null ? {} : { canary };
}

function versionOfNothing(version: string): Problem {
  const detail = `The version ${JSON.stringify(version)} is of a capability, and none is named. Name one, or leave the version out.`;
  return new Problem(400, "version_of_nothing", detail, { fields: ["/version"] });
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

function foreignAgent(to: string): Problem {
  const next = "Send it to the relay where the agent is registered, or name a capability that is offered here.";
  const message = `${to} is registered elsewhere: it is found here, and nothing can be handed to it here. ${next}`;
  return new Problem(406, "foreign_agent", message, { fields: ["/to"] });
}
