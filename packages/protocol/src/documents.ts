// The signed documents. `id` is always the handoff's id; a digest of a document is documentDigest() of its exact bytes.
import Type, { type Static } from "typebox";
import { contractTerms } from "./contract/terms.ts";
import { closed, fields } from "./fields.ts";

function header<const Typ extends string>(typ: Typ) {
  return { v: Type.Literal(1), typ: Type.Literal(typ), relay: fields.relay_url, namespace: fields.name };
}

function signedBy<const Typ extends string>(typ: Typ) {
  return { ...header(typ), from: fields.name };
}

/** A handoff without its header: the relay's wire messages reuse it. */
export const handoffFields = {
  id: fields.id,
  kind: Type.Optional(Type.Enum(["handoff", "notice"])),
  to: Type.Optional(fields.agent),
  capability: Type.Optional(fields.name),
  /** Of the capability: only agents that offer it in such a version. */
  version: Type.Optional(fields.version_range),
  idempotency_key: Type.Optional(fields.text_id),
  correlation_id: Type.Optional(fields.text_id),
  causation: Type.Optional(Type.Object({ id: fields.id, fence: fields.fence }, closed)),
  conversation_id: Type.Optional(fields.text_id),
  detached: Type.Optional(Type.Boolean()),
  ordering_key: Type.Optional(fields.text_id),
  priority: Type.Optional(fields.priority),
  labels: Type.Optional(fields.labels),
  expects: Type.Optional(Type.Object({ output_schema: Type.Optional(fields.json_schema) }, closed)),
  contract: Type.Optional(fields.text_id),
  limits: Type.Optional(fields.limits),
  budget: Type.Optional(fields.budget),
  dead_letter_to: Type.Optional(fields.name),
  evidence: Type.Optional(Type.Enum(["signed", "any"])),
  queue_if_absent: Type.Optional(Type.Boolean()),
  artifacts: Type.Optional(fields.artifacts),
  traceparent: Type.Optional(fields.traceparent),
  input: fields.payload_digest,
  redrive_of: Type.Optional(fields.id),
  on_behalf_of: Type.Optional(fields.name),
  ext: Type.Optional(fields.ext),
};

/** What ack and outcome bind: which bytes were taken, under which lease, by which process, on which terms. */
export const leaseFields = {
  id: fields.id,
  handoff: fields.sha256,
  fence: fields.fence,
  worker: fields.name,
  manifest: Type.Union([fields.sha256, Type.Null()]),
  ext: Type.Optional(fields.ext),
};

export const outcomeFields = {
  ...leaseFields,
  status: Type.Enum(["completed", "failed", "rejected"]),
  code: Type.Integer({ minimum: 200, maximum: 599 }),
  retryable: Type.Optional(Type.Boolean()),
  retry_after_ms: Type.Optional(fields.duration_ms),
  output: Type.Optional(fields.payload_digest),
  error: Type.Optional(fields.error),
  usage: Type.Optional(fields.usage),
  artifacts: Type.Optional(fields.artifacts),
};

/** What a manifest says besides the agent's name: its digest is over all of it. */
export const manifestFields = {
  capabilities: fields.capabilities,
  version: Type.Optional(fields.manifest_version),
  discovery_endpoint: Type.Optional(fields.url),
  lease_seconds: Type.Optional(fields.lease_seconds),
};

/** By typ. Beyond these schemas, readDocument() checks what one field demands of another. */
export const documentSchemas = {
  handoff: Type.Object(
    { ...signedBy("handoff"), ...handoffFields },
    { ...closed, anyOf: [{ required: ["to"] }, { required: ["capability"] }] },
  ),
  ack: Type.Object({ ...signedBy("ack"), ...leaseFields }, closed),
  outcome: Type.Object({ ...signedBy("outcome"), ...outcomeFields }, closed),
  answer: Type.Object(
    {
      ...signedBy("answer"),
      id: fields.id,
      question: fields.text_id,
      handoff: fields.sha256,
      answer: fields.payload_digest,
      ext: Type.Optional(fields.ext),
    },
    closed,
  ),
  cancel: Type.Object(
    {
      ...signedBy("cancel"),
      id: fields.id,
      handoff: fields.sha256,
      reason: Type.Optional(fields.message),
      ext: Type.Optional(fields.ext),
    },
    closed,
  ),
  /** `agent_id` stands in place of `from`: the name is what is being asked for. */
  registration: Type.Object(
    {
      ...header("registration"),
      agent_id: fields.name,
      challenge: fields.challenge,
      key: fields.jwk,
      ...manifestFields,
      description: Type.Optional(fields.message),
      ext: Type.Optional(fields.ext),
    },
    closed,
  ),
  /** The asker's side of a contract: it takes an offer. `contract` is contractId() of the terms. */
  contract: Type.Object(
    { ...signedBy("contract"), contract: fields.sha256, terms: contractTerms, ext: Type.Optional(fields.ext) },
    closed,
  ),
  /** The provider's side where it was asked live: the terms that it proposes, or that it declines. */
  proposal: Type.Object(
    {
      ...signedBy("proposal"),
      offer: fields.id,
      terms: Type.Optional(contractTerms),
      decline: Type.Optional(Type.Object({ reason: fields.name, message: fields.message }, closed)),
      ext: Type.Optional(fields.ext),
    },
    closed,
  ),
  /** Signed by the old key. */
  rotation: Type.Object(
    {
      ...header("rotation"),
      agent_id: fields.name,
      challenge: fields.challenge,
      old: fields.proof.properties.key,
      key: fields.jwk,
    },
    closed,
  ),
};

export type DocumentTyp = keyof typeof documentSchemas;
export type DocumentOf<Typ extends DocumentTyp> = Static<(typeof documentSchemas)[Typ]>;
export type HandoffDocument = DocumentOf<"handoff">;
export type AckDocument = DocumentOf<"ack">;
export type OutcomeDocument = DocumentOf<"outcome">;
export type AnswerDocument = DocumentOf<"answer">;
export type CancelDocument = DocumentOf<"cancel">;
export type RegistrationDocument = DocumentOf<"registration">;
export type RotationDocument = DocumentOf<"rotation">;
export type ContractDocument = DocumentOf<"contract">;
export type ProposalDocument = DocumentOf<"proposal">;
