/**
 * Every operation by name: where it lies over HTTP, what it takes and what it answers. Over a WebSocket the name alone is
 * enough. A test of the relay holds this list against the table that it serves.
 */

import type { Static, TSchema } from "typebox";
import type { about, backup_reply, backup_request, health } from "./about.ts";
import type * as agents from "./agents.ts";
import type * as contracts from "./contracts.ts";
import type * as dead from "./dead-letters.ts";
import type * as discovery from "./discovery.ts";
import type { event_page, handoff_event } from "./events.ts";
import type { followed_query, outcome_page } from "./followed.ts";
import type { correlation_view, handoff_page, handoff_view } from "./handoff.ts";
import type * as imports from "./imports.ts";
import type { conversation_query, dead_letter_filter, event_query, handoff_filter, log_query } from "./list.ts";
import type * as manifests from "./manifests.ts";
import type { node_page } from "./nodes.ts";
import type * as questions from "./questions.ts";
import type { agent_reliability } from "./reliability.ts";
import type * as routing from "./routes.ts";
import type { SignedBody } from "./signed.ts";
import type { plain_submit, receipt, receipts } from "./submit.ts";
import type * as worker from "./worker.ts";

interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With parameters in braces. */
  readonly path: string;
}

const get = (path: string): Route => ({ method: "GET", path });
const post = (path: string): Route => ({ method: "POST", path });
const put = (path: string): Route => ({ method: "PUT", path });
const drop = (path: string): Route => ({ method: "DELETE", path });

export const routes = {
  submit: post("/v1/handoffs"),
  submit_batch: post("/v1/handoffs/batch"),
  list: get("/v1/handoffs"),
  get: get("/v1/handoffs/{id}"),
  handoff_events: get("/v1/handoffs/{id}/events"),
  read_chunks: get("/v1/handoffs/{id}/chunks"),
  cancel: post("/v1/handoffs/{id}/cancel"),
  take: post("/v1/handoffs/{id}/take"),
  outcomes: get("/v1/outcomes"),
  correlation: get("/v1/correlations/{id}"),
  correlation_events: get("/v1/correlations/{id}/events"),
  conversation: get("/v1/conversations/{id}"),
  claim: post("/v1/claims"),
  ack: post("/v1/handoffs/{id}/ack"),
  heartbeat: post("/v1/handoffs/{id}/heartbeat"),
  write_chunk: post("/v1/handoffs/{id}/chunks"),
  checkpoint: post("/v1/handoffs/{id}/checkpoint"),
  ask: post("/v1/handoffs/{id}/ask"),
  complete: post("/v1/handoffs/{id}/complete"),
  fail: post("/v1/handoffs/{id}/fail"),
  reject: post("/v1/handoffs/{id}/reject"),
  release: post("/v1/handoffs/{id}/release"),
  questions: get("/v1/questions"),
  question: get("/v1/questions/{id}"),
  answer: post("/v1/questions/{id}/answer"),
  dead_letters: get("/v1/dead-letters"),
  redrive_many: post("/v1/dead-letters/redrive"),
  dead_letter: get("/v1/dead-letters/{id}"),
  redrive: post("/v1/dead-letters/{id}/redrive"),
  discard: post("/v1/dead-letters/{id}/discard"),
  negotiate: post("/v1/negotiations"),
  negotiation: get("/v1/negotiations/{id}"),
  proposals: get("/v1/proposals"),
  propose: post("/v1/proposals/{id}"),
  agree: post("/v1/contracts"),
  contracts: get("/v1/contracts"),
  contract: get("/v1/contracts/{id}"),
  end_contract: post("/v1/contracts/{id}/end"),
  put_artifact: put("/v1/artifacts/{sha256}"),
  get_artifact: get("/v1/artifacts/{sha256}"),
  log: get("/v1/log"),
  challenge: post("/v1/agents/challenge"),
  register: post("/v1/agents"),
  agents: get("/v1/agents"),
  agent: get("/v1/agents/{name}"),
  reliability: get("/v1/agents/{name}/reliability"),
  forget_agent: drop("/v1/agents/{name}"),
  rotate_key: post("/v1/agents/{name}/keys"),
  revoke_key: drop("/v1/agents/{name}/keys/{thumbprint}"),
  set_capabilities: put("/v1/agents/{name}/capabilities"),
  manifests: get("/v1/agents/{name}/manifests"),
  manifest: get("/v1/manifests/{digest}"),
  create_token: post("/v1/tokens"),
  tokens: get("/v1/tokens"),
  revoke_token: drop("/v1/tokens/{id}"),
  discover: post("/v1/discover"),
  discovery: get("/v1/discovery/{name}"),
  agent_card: get("/v1/discovery/{name}/agent-card.json"),
  ai_catalog: get("/.well-known/ai-catalog.json"),
  import_agent: post("/v1/imports"),
  imports: get("/v1/imports"),
  refresh_import: post("/v1/imports/{name}/refresh"),
  drop_import: drop("/v1/imports/{name}"),
  routes: get("/v1/routes"),
  set_route: put("/v1/routes/{capability}"),
  drop_route: drop("/v1/routes/{capability}"),
  nodes: get("/v1/nodes"),
  drain_node: post("/v1/nodes/{name}/drain"),
  undrain_node: drop("/v1/nodes/{name}/drain"),
  healthz: get("/healthz"),
  readyz: get("/readyz"),
  metrics: get("/metrics"),
  well_known: get("/.well-known/handfast"),
  backup: post("/v1/backup"),
  openapi: get("/v1/openapi.json"),
} as const satisfies Record<string, Route>;

export type OperationName = keyof typeof routes;

type Id = { readonly id: string };
type Name = { readonly name: string };
type Followed = Of<typeof followed_query>;
type Nothing = Record<never, never>;
type Of<S extends TSchema> = Static<S>;

interface Op<Params, Query, Body, Reply> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly reply: Reply;
}
type Read<Params, Query, Reply extends TSchema> = Op<Params, Query, undefined, Of<Reply>>;
type Act<Params, Body extends TSchema, Reply extends TSchema> = Op<Params, Nothing, Of<Body>, Of<Reply>>;
type Signable<Params, Body, Reply extends TSchema> = Op<Params, Nothing, Body | SignedBody, Of<Reply>>;
type Raw<Params, Query> = Op<Params, Query, undefined, string>;

/** What each operation takes and answers. */
export interface Operations {
  submit: Signable<Nothing, Of<typeof plain_submit>, typeof receipt>;
  submit_batch: Op<
    Nothing,
    Nothing,
    { readonly handoffs: readonly (Of<typeof plain_submit> | SignedBody)[] },
    Of<typeof receipts>
  >;
  list: Read<Nothing, Of<typeof handoff_filter>, typeof handoff_page>;
  get: Read<
    Id,
    { readonly until?: "acknowledged" | "ended"; readonly input?: boolean; readonly proofs?: boolean },
    typeof handoff_view
  >;
  handoff_events: Read<Id, Of<typeof event_query>, typeof event_page>;
  read_chunks: Read<Id, Of<typeof worker.chunk_query>, typeof worker.chunk_view>;
  cancel: Signable<Id, { readonly reason?: string }, typeof handoff_view>;
  take: Op<Id, Nothing, Nothing, Of<typeof handoff_view>>;
  outcomes: Read<Nothing, Followed, typeof outcome_page>;
  correlation: Read<Id, { readonly cursor?: string }, typeof correlation_view>;
  correlation_events: Read<Id, Of<typeof event_query>, typeof event_page>;
  conversation: Read<Id, Of<typeof conversation_query>, typeof handoff_page>;

  claim: Act<Nothing, typeof worker.claim_request, typeof worker.claim_reply>;
  ack: Signable<Id, Of<typeof worker.plain_ack>, typeof worker.held_reply>;
  heartbeat: Act<Id, typeof worker.heartbeat_request, typeof worker.heartbeat_reply>;
  write_chunk: Act<Id, typeof worker.chunk_request, typeof worker.chunk_reply>;
  checkpoint: Act<Id, typeof worker.checkpoint_request, typeof worker.checkpoint_reply>;
  ask: Act<Id, typeof worker.ask_request, typeof questions.question_view>;
  complete: Signable<Id, Of<typeof worker.plain_complete>, typeof worker.outcome_reply>;
  fail: Signable<Id, Of<typeof worker.plain_fail>, typeof worker.outcome_reply>;
  reject: Signable<Id, Of<typeof worker.plain_reject>, typeof worker.outcome_reply>;
  release: Act<Id, typeof worker.release_request, typeof worker.held_reply>;

  questions: Read<Nothing, Followed, typeof questions.question_page>;
  question: Read<Id, Nothing, typeof questions.question_view>;
  answer: Signable<Id, Of<typeof questions.plain_answer>, typeof questions.question_view>;

  dead_letters: Read<Nothing, Of<typeof dead_letter_filter>, typeof dead.dead_letter_page>;
  redrive_many: Op<
    Nothing,
    Nothing,
    Of<typeof dead.bulk_redrive>,
    Of<typeof dead.redrive_plan> | Of<typeof dead.bulk_redrive_reply>
  >;
  dead_letter: Read<Id, Nothing, typeof dead.dead_letter_view>;
  redrive: Signable<Id, Of<typeof dead.plain_redrive>, typeof dead.redrive_reply>;
  discard: Op<Id, Nothing, Nothing, Of<typeof handoff_view>>;

  negotiate: Act<Nothing, typeof contracts.negotiation_request, typeof contracts.negotiation_view>;
  negotiation: Read<Id, Nothing, typeof contracts.negotiation_view>;
  proposals: Read<Nothing, Of<typeof contracts.proposal_query>, typeof contracts.proposal_page>;
  propose: Signable<Id, Of<typeof contracts.plain_proposal>, typeof contracts.proposal_call>;
  agree: Signable<Nothing, Of<typeof contracts.agree_request>, typeof contracts.contract_view>;
  contracts: Read<Nothing, Of<typeof contracts.contract_query>, typeof contracts.contract_page>;
  contract: Read<Id, Nothing, typeof contracts.contract_view>;
  end_contract: Act<Id, typeof contracts.end_contract_request, typeof contracts.contract_view>;

  put_artifact: Op<
    { readonly sha256: string },
    Nothing,
    Uint8Array,
    { readonly sha256: string; readonly size: number; readonly media_type: string }
  >;
  get_artifact: Op<{ readonly sha256: string }, Nothing, undefined, Uint8Array>;
  log: Raw<Nothing, Of<typeof log_query>>;

  challenge: Op<Nothing, Nothing, Nothing, Of<typeof agents.challenge_reply>>;
  register: Act<Nothing, typeof agents.registration, typeof agents.registered>;
  agents: Read<Nothing, Of<typeof agents.agent_query>, typeof agents.agent_page>;
  agent: Read<Name, Nothing, typeof agents.agent_view>;
  reliability: Read<Name, Nothing, typeof agent_reliability>;
  forget_agent: Op<Name, Nothing, undefined, { readonly done: true }>;
  rotate_key: Act<Name, typeof agents.rotation, typeof agents.registered>;
  revoke_key: Op<Name & { readonly thumbprint: string }, Nothing, undefined, { readonly done: true }>;
  set_capabilities: Act<Name, typeof agents.capabilities_body, typeof agents.manifest_reply>;
  manifests: Read<Name, Of<typeof manifests.manifest_query>, typeof manifests.manifest_page>;
  manifest: Read<{ readonly digest: string }, Nothing, typeof manifests.manifest_view>;
  create_token: Act<Nothing, typeof agents.token_request, typeof agents.token_reply>;
  tokens: Op<
    Nothing,
    Of<typeof agents.token_query>,
    undefined,
    { readonly tokens: readonly Of<typeof agents.token_view>[] }
  >;
  revoke_token: Op<Id, Of<typeof agents.token_query>, undefined, { readonly done: true }>;

  discover: Act<Nothing, typeof discovery.discover_request, typeof discovery.discover_reply>;
  discovery: Read<Name, Nothing, typeof discovery.discovery_view>;
  agent_card: Read<Name, Nothing, typeof discovery.agent_card>;
  ai_catalog: Raw<Nothing, Of<typeof discovery.catalog_query>>;
  import_agent: Act<Nothing, typeof imports.import_request, typeof imports.import_view>;
  imports: Read<Nothing, Nothing, typeof imports.import_page>;
  refresh_import: Op<Name, Nothing, Nothing, Of<typeof imports.import_view>>;
  drop_import: Op<Name, Nothing, undefined, { readonly done: true }>;
  routes: Read<Nothing, Nothing, typeof routing.route_page>;
  set_route: Act<{ readonly capability: string }, typeof routing.route_body, typeof routing.route_view>;
  drop_route: Op<{ readonly capability: string }, Nothing, undefined, { readonly done: true }>;

  nodes: Read<Nothing, Nothing, typeof node_page>;
  drain_node: Op<Name, Nothing, Nothing, Of<typeof node_page>>;
  undrain_node: Op<Name, Nothing, undefined, Of<typeof node_page>>;
  healthz: Read<Nothing, Nothing, typeof health>;
  readyz: Read<Nothing, Nothing, typeof health>;
  metrics: Raw<Nothing, Nothing>;
  well_known: Read<Nothing, Nothing, typeof about>;
  backup: Act<Nothing, typeof backup_request, typeof backup_reply>;
  openapi: Op<Nothing, Nothing, undefined, unknown>;
}

/** Views as clients name them. */
export type HandoffEvent = Of<typeof handoff_event>;
export type AboutRelay = Of<typeof about>;
export type AgentView = Of<typeof agents.agent_view>;
export type DeadLetterView = Of<typeof dead.dead_letter_view>;
export type HeldReply = Of<typeof worker.held_reply>;
export type HeartbeatReply = Of<typeof worker.heartbeat_reply>;
