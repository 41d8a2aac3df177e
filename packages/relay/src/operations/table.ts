/** Every operation of the wire. Transports serve this table; OpenAPI and the specification are checked against it. */

import * as about from "./about.ts";
import * as after from "./after.ts";
import * as agents from "./agents.ts";
import * as artifacts from "./artifacts.ts";
import * as chunks from "./chunks.ts";
import { claim } from "./claim.ts";
import * as contracts from "./contracts.ts";
import { getConversation } from "./conversation.ts";
import * as deadLetters from "./dead-letters.ts";
import { discover } from "./discover.ts";
import * as discovery from "./discovery.ts";
import * as events from "./events.ts";
import * as hold from "./hold.ts";
import * as imports from "./imports.ts";
import { log } from "./log.ts";
import * as manifests from "./manifests.ts";
import * as negotiations from "./negotiations.ts";
import * as nodes from "./nodes.ts";
import { openApiOperation } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import * as outcome from "./outcome.ts";
import * as questions from "./questions.ts";
import * as read from "./read.ts";
import { reliability } from "./reliability.ts";
import * as routes from "./routes.ts";
import { submit, submitBatch } from "./submit.ts";

export const operations: readonly Operation[] = [
  submit,
  submitBatch,
  read.listHandoffs,
  read.getHandoff,
  events.handoffEvents,
  chunks.readChunks,
  after.cancel,
  after.take,
  read.listOutcomes,
  read.getCorrelation,
  events.correlationEvents,
  getConversation,

  claim,
  hold.ack,
  hold.heartbeat,
  chunks.writeChunk,
  hold.checkpoint,
  questions.ask,
  outcome.complete,
  outcome.fail,
  outcome.reject,
  hold.release,

  questions.listQuestions,
  questions.getQuestion,
  questions.answer,

  deadLetters.listDeadLetters,
  deadLetters.redriveMany,
  deadLetters.getDeadLetter,
  deadLetters.redrive,
  deadLetters.discard,

  negotiations.negotiate,
  negotiations.getNegotiation,
  negotiations.listProposals,
  negotiations.propose,
  contracts.agree,
  contracts.listContracts,
  contracts.getContract,
  contracts.endContract,

  artifacts.putArtifact,
  artifacts.getArtifact,

  log,

  agents.challenge,
  agents.register,
  agents.listAgents,
  agents.getAgent,
  reliability,
  agents.forgetAgent,
  agents.rotateKey,
  agents.revokeKey,
  agents.setCapabilities,
  manifests.listManifests,
  manifests.getManifest,
  agents.createToken,
  agents.listTokens,
  agents.revokeToken,

  discover,
  discovery.discovery,
  discovery.card,
  discovery.aiCatalog,
  imports.importAgent,
  imports.listImports,
  imports.refreshImport,
  imports.dropImport,
  routes.listRoutes,
  routes.setRoute,
  routes.dropRoute,
  nodes.listNodes,
  nodes.drainNode,
  nodes.undrainNode,

  about.healthz,
  about.readyz,
  about.metrics,
  about.wellKnown,
  about.backup,
  openApiOperation(() => operations),
];
