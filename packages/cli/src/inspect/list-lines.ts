/** Handoffs in a list: which, how it goes, for whom, from whom, since when, and how far it is or how it ended. */

import type { HandoffView } from "@handfast/protocol/wire";
import { ago, exactly } from "../moments.ts";
import { titled } from "../table.ts";
import { type Look, paintState } from "./look.ts";
import { shortId, targetName } from "./names.ts";
import { payloadText, shorten } from "./payload-text.ts";

const hint_chars = 160;

export function handoffListLines(handoffs: readonly HandoffView[], look: Look): readonly string[] {
  if (handoffs.length === 0) return [];
  const rows = handoffs.map((handoff) => [
    look.full ? handoff.id : shortId(handoff.id),
    paintState(handoff.state, look),
    String(handoff.code),
    targetName(handoff),
    handoff.from,
    look.full ? exactly(handoff.accepted_at) : ago(handoff.accepted_at, look.now),
    howItGoes(handoff),
  ]);
  return titled(["id", "state", "code", "target", "from", "age", "how it goes"], rows, look);
}

/** Progress, what it waits for, or what came of it; empty: nothing is known yet. */
export function howItGoes(handoff: HandoffView): string {
  const { progress, outcome, question, ended_at, attempts, limits, failures } = handoff;
  if (ended_at !== null) {
    const said = outcome?.error ? shorten(outcome.error.message, hint_chars) : null;
    return said ?? (outcome && payloadText(outcome, { full: false, width: hint_chars })) ?? "";
  }
  if (question !== null) return `asks ${question.to ?? "the sender"}`;
  const tries = attempts > 1 ? `attempt ${attempts} of ${limits.max_attempts}` : "";
  const last = handoff.state === "queued" && failures.length > 0 ? failures.at(-1)?.error.message : undefined;
  const share = typeof progress?.fraction === "number" ? `${Math.round(progress.fraction * 100)} %` : "";
  const parts = [tries, share, progress?.note ?? "", last === undefined ? "" : `after: ${last}`];
  return shorten(parts.filter((part) => part !== "").join(" "), hint_chars);
}
