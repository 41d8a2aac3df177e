/** The documents and messages that have a name of their own in the specification and in OpenAPI. */

import type { TSchema } from "typebox";
import { contractTerms } from "../contract/terms.ts";
import { documentSchemas } from "../documents.ts";
import { fields } from "../fields.ts";
import { manifest } from "../manifest/manifest-schema.ts";
import * as about from "./about.ts";
import * as agents from "./agents.ts";
import * as contracts from "./contracts.ts";
import * as deadLetters from "./dead-letters.ts";
import * as discovery from "./discovery.ts";
import * as events from "./events.ts";
import * as followed from "./followed.ts";
import * as handoff from "./handoff.ts";
import * as imports from "./imports.ts";
import * as manifests from "./manifests.ts";
import { problem } from "./problem.ts";
import * as questions from "./questions.ts";
import * as reliability from "./reliability.ts";
import * as routing from "./routes.ts";
import * as signed from "./signed.ts";
import * as submit from "./submit.ts";
import * as worker from "./worker.ts";

const documents = Object.fromEntries(
  Object.entries(documentSchemas).map(([typ, schema]) => [`document-${typ}`, schema as TSchema]),
);

export const namedSchemas: Readonly<Record<string, TSchema>> = {
  ...documents,
  proof: fields.proof,
  "payload-digest": fields.payload_digest,
  artifact: fields.artifact,
  capability: fields.capability,
  "time-limits": fields.limits,

  "signed-act": signed.signed_act,
  "signed-body": signed.signed_body,
  "proven-act": signed.proven_act,
  submit: submit.plain_submit,
  "submit-batch": submit.submit_batch_documented,
  receipt: submit.receipt,
  receipts: submit.receipts,
  handoff: handoff.handoff_view,
  "handoff-page": handoff.handoff_page,
  "outcome-page": followed.outcome_page,
  outcome: handoff.outcome_view,
  correlation: handoff.correlation_view,
  event: events.handoff_event,
  "event-page": events.event_page,
  "cursor-too-old": events.cursor_too_old,

  claim: worker.claim_request,
  lease: worker.lease,
  leases: worker.claim_reply,
  held: worker.held_reply,
  ack: worker.plain_ack,
  heartbeat: worker.heartbeat_request,
  "heartbeat-reply": worker.heartbeat_reply,
  chunk: worker.chunk_request,
  "chunk-reply": worker.chunk_reply,
  chunks: worker.chunk_view,
  checkpoint: worker.checkpoint_request,
  "checkpoint-reply": worker.checkpoint_reply,
  ask: worker.ask_request,
  complete: worker.plain_complete,
  fail: worker.plain_fail,
  reject: worker.plain_reject,
  "outcome-reply": worker.outcome_reply,

  question: questions.question_view,
  "question-page": questions.question_page,
  answer: questions.plain_answer,

  "dead-letter": deadLetters.dead_letter_view,
  "dead-letter-page": deadLetters.dead_letter_page,
  redrive: deadLetters.plain_redrive,
  "redrive-reply": deadLetters.redrive_reply,
  "bulk-redrive": deadLetters.bulk_redrive,
  "redrive-plan": deadLetters.redrive_plan,
  "bulk-redrive-reply": deadLetters.bulk_redrive_reply,

  why: handoff.why_view,
  "route-body": routing.route_body,
  route: routing.route_view,
  "route-page": routing.route_page,
  "contract-terms": contractTerms,
  negotiation: contracts.negotiation_request,
  "negotiation-reply": contracts.negotiation_view,
  offer: contracts.offer_view,
  proposal: contracts.plain_proposal,
  "proposal-call": contracts.proposal_call,
  "proposal-page": contracts.proposal_page,
  contract: contracts.contract_view,
  "contract-page": contracts.contract_page,

  challenge: agents.challenge_reply,
  registration: agents.registration,
  rotation: agents.rotation,
  registered: agents.registered,
  agent: agents.agent_view,
  "agent-page": agents.agent_page,
  "agent-reliability": reliability.agent_reliability,
  manifest,
  "manifest-page": manifests.manifest_page,
  "manifest-view": manifests.manifest_view,
  "token-request": agents.token_request,
  "token-reply": agents.token_reply,

  discover: discovery.discover_request,
  discovered: discovery.discover_reply,
  hit: discovery.hit,
  miss: discovery.miss,
  "nobody-meets": discovery.nobody_meets,
  "agent-card": discovery.agent_card,
  "discovery-view": discovery.discovery_view,
  import: imports.import_view,
  "import-page": imports.import_page,

  about: about.about,
  health: about.health,
  problem,
};

const byText = new Map(Object.entries(namedSchemas).map(([name, schema]) => [JSON.stringify(schema), name]));

/** The schema with every named part replaced by a reference, except the whole where it is `self`. */
export function withReferences(schema: unknown, reference: (name: string) => string, self?: string): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => withReferences(item, reference));
  const name = byText.get(JSON.stringify(schema));
  if (name !== undefined && name !== self) return { $ref: reference(name) };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReferences(value, reference)]));
}
