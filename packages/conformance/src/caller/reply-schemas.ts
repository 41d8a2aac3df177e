/** What each operation answers when it succeeds, as the specification's schemas have it. */

import type { OperationName, Operations } from "@handfast/protocol/wire";
import * as wire from "@handfast/protocol/wire";
import Type, { type TSchema } from "typebox";
import Compile, { type Validator } from "typebox/compile";

const done = Type.Object({ done: Type.Literal(true) });

const schemas = {
  submit: wire.receipt,
  submit_batch: wire.receipts,
  list: wire.handoff_page,
  get: wire.handoff_view,
  handoff_events: wire.event_page,
  read_chunks: wire.chunk_view,
  cancel: wire.handoff_view,
  take: wire.handoff_view,
  outcomes: wire.outcome_page,
  correlation: wire.correlation_view,
  correlation_events: wire.event_page,
  conversation: wire.handoff_page,
  claim: wire.claim_reply,
  ack: wire.held_reply,
  heartbeat: wire.heartbeat_reply,
  write_chunk: wire.chunk_reply,
  checkpoint: wire.checkpoint_reply,
  ask: wire.question_view,
  complete: wire.outcome_reply,
  fail: wire.outcome_reply,
  reject: wire.outcome_reply,
  release: wire.held_reply,
  questions: wire.question_page,
  question: wire.question_view,
  answer: wire.question_view,
  dead_letters: wire.dead_letter_page,
  redrive_many: Type.Union([wire.redrive_plan, wire.bulk_redrive_reply]),
  dead_letter: wire.dead_letter_view,
  redrive: wire.redrive_reply,
  discard: wire.handoff_view,
  negotiate: wire.negotiation_view,
  negotiation: wire.negotiation_view,
  proposals: wire.proposal_page,
  propose: wire.proposal_call,
  agree: wire.contract_view,
  contracts: wire.contract_page,
  contract: wire.contract_view,
  end_contract: wire.contract_view,
  put_artifact: Type.Object({ sha256: Type.String(), size: Type.Integer(), media_type: Type.String() }),
  challenge: wire.challenge_reply,
  register: wire.registered,
  agents: wire.agent_page,
  agent: wire.agent_view,
  reliability: wire.agent_reliability,
  forget_agent: done,
  rotate_key: wire.registered,
  revoke_key: done,
  set_capabilities: wire.manifest_reply,
  manifests: wire.manifest_page,
  manifest: wire.manifest_view,
  create_token: wire.token_reply,
  tokens: Type.Object({ tokens: Type.Array(wire.token_view) }),
  revoke_token: done,
  discover: wire.discover_reply,
  discovery: wire.discovery_view,
  agent_card: wire.agent_card,
  import_agent: wire.import_view,
  imports: wire.import_page,
  refresh_import: wire.import_view,
  drop_import: done,
  routes: wire.route_page,
  set_route: wire.route_view,
  drop_route: done,
  nodes: wire.node_page,
  drain_node: wire.node_page,
  undrain_node: wire.node_page,
  healthz: wire.health,
  readyz: wire.health,
  well_known: wire.about,
  backup: wire.backup_reply,
} as const satisfies Partial<Record<OperationName, TSchema>>;

/** Operations that answer with JSON. */
export type JsonOperation = keyof typeof schemas;

const validators = new Map<TSchema, Validator>();

function fault(schema: TSchema, body: unknown): string | null {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(body)) return null;
  const [first] = validator.Errors(body);
  return first === undefined ? "it does not fit" : `${first.instancePath || "the whole"} ${first.message}`;
}

/** Whether it is what the operation answers; the type is the schema's own. */
export function isReply<N extends JsonOperation>(op: N, body: unknown): body is Operations[N]["reply"] {
  return replyFault(op, body) === null;
}

export function replyFault(op: JsonOperation, body: unknown): string | null {
  return fault(schemas[op], body);
}

export type Problem = wire.Static<typeof wire.problem>;

export function isProblem(body: unknown): body is Problem {
  return fault(wire.problem, body) === null;
}
