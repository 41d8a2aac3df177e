/** Every check, in the order of the specification. */

import type { Check } from "../check.ts";
import { afterTheEnd } from "./after-the-end.ts";
import { children } from "./children.ts";
import { clocks } from "./clocks.ts";
import { agreeing } from "./contracts-agreeing.ts";
import { underContract } from "./contracts-kept.ts";
import { delivery } from "./delivery.ts";
import { discovery } from "./discovery.ts";
import { durability } from "./durability.ts";
import { ends } from "./ends.ts";
import { events } from "./events.ts";
import { ids } from "./ids.ts";
import { intoTheQueue } from "./into-the-queue.ts";
import { manifests } from "./manifests.ts";
import { order } from "./order.ts";
import { whatCameOfIt } from "./outcomes.ts";
import { askingAndAnswering } from "./questions.ts";
import { retention } from "./retention.ts";
import { routing } from "./routing.ts";
import { saidTwice } from "./said-twice.ts";
import { signingDocuments } from "./signing-documents.ts";
import { signingKeys } from "./signing-keys.ts";
import { states } from "./states.ts";
import { statusCodesAndEvolution } from "./status-codes.ts";
import { streams } from "./streams.ts";
import { websocketCalls } from "./websocket-calls.ts";
import { websocketLife } from "./websocket-life.ts";
import { whatIsHandedOff } from "./what-is-handed-off.ts";
import { wireAgents } from "./wire-agents.ts";
import { wireCalls } from "./wire-calls.ts";
import { wireQuestions } from "./wire-questions.ts";
import { wireWork } from "./wire-work.ts";
import { work } from "./work.ts";

export const checks: readonly Check[] = [
  ...whatIsHandedOff,
  ...states,
  ...intoTheQueue,
  ...delivery,
  ...work,
  ...askingAndAnswering,
  ...whatCameOfIt,
  ...ends,
  ...clocks,
  ...children,
  ...order,
  ...afterTheEnd,
  ...ids,
  ...saidTwice,
  ...events,
  ...streams,
  ...wireCalls,
  ...wireWork,
  ...wireQuestions,
  ...wireAgents,
  ...discovery,
  ...agreeing,
  ...underContract,
  ...manifests,
  ...routing,
  ...websocketCalls,
  ...websocketLife,
  ...signingKeys,
  ...signingDocuments,
  ...statusCodesAndEvolution,
  ...durability,
  ...retention,
];
