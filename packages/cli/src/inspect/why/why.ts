/** Why a handoff is where it is, and what would move it, in one sentence. */

import type { HandoffView } from "@handfast/protocol/wire";
import { whyEnded } from "./ended.ts";
import type { Facts, Why } from "./facts.ts";
import { whyDelivered, whyWaiting, whyWorking } from "./held.ts";
import { whyQueued } from "./queued.ts";

export function why(view: HandoffView, facts: Facts): Why {
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
