/** Why a handoff is where it is, and what would move it, in one sentence. */

import type { HandoffView } from "@handfast/protocol/wire";
import { routedWords } from "../routed-words.ts";
import { whyEnded } from "./ended.ts";
import type { Facts, Why } from "./facts.ts";
import { whyDelivered, whyWaiting, whyWorking } from "./held.ts";
import { whyQueued } from "./queued.ts";

export function why(view: HandoffView, facts: Facts): Why {
  const { sentence, next } = whyThere(view, facts);
  return { sentence: `${sentence}${whyThisAgent(view)}`, next };
}

/** A second sentence, where there was something to choose: why the agent that has or had it was chosen. */
function whyThisAgent({ why: routed, lease, outcome, state }: HandoffView): string {
  const agent = lease?.agent ?? outcome?.agent ?? null;
  const because = routed === null || agent === null || state === "queued" ? null : routedWords(routed);
  return because === null ? "" : ` It went to ${agent} because ${because}.`;
}

function whyThere(view: HandoffView, facts: Facts): Why {
  switch (view.state) {
    case "queued":
      return whyQueued(view, facts);
    case "delivered":
      return whyDelivered(view, facts);
    case "working":
      return whyWorking(view, facts);
    case "waiting":
      return whyWaiting(view, facts);
    default:
      return whyEnded(view, facts);
  }
}
