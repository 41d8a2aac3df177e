/** The receipts of a handoff: accepted, delivered, acknowledged, outcome, each with what proves it. */

import { exactly, span } from "../../moments.ts";
import { table } from "../../table.ts";
import type { Look } from "../look.ts";
import { holderWords } from "../names.ts";
import { isEnd, type StoryEvent } from "../story-event.ts";
import type { Story } from "./story.ts";

const evidenceWords = {
  signed: "signed by its author",
  attested: "attested: the relay saw an authenticated call",
  relay: "by the relay itself",
} as const;

export function receiptLines({ facts, view, checked }: Story, look: Look): readonly string[] {
  const isProven = checked?.fault === null;
  const rows = facts.events.flatMap((event) => {
    const receipt = receiptOf(event);
    if (receipt === null) return [];
    const when = look.full ? exactly(event.at) : `+${span(event.at - view.accepted_at)}`;
    return [[receipt.name, look.style("dim", when), receipt.who, proofWords(event, isProven, look)]];
  });
  const fault = checked?.fault ?? null;
  return [...table(rows), ...(fault === null ? [] : [look.style("red", `NOT PROVEN: ${fault}`)])];
}

function receiptOf(event: StoryEvent): { readonly name: string; readonly who: string } | null {
  const { type, agent, worker } = event;
  const holder = agent ? holderWords(agent, worker) : "the relay";
  switch (type) {
    case "accepted":
      return { name: "accepted", who: `from ${event.from ?? "its sender"}` };
    case "delivered":
      return { name: "delivered", who: `to ${holder}` };
    case "acknowledged":
      return { name: "acknowledged", who: `by ${holder}` };
    case "canceled":
      return { name: "outcome", who: `canceled by ${event.by ?? "its sender"}` };
    case "late":
      return { name: "late outcome", who: `by ${holder}` };
    default:
      if (!isEnd(type)) return null;
      return { name: "outcome", who: `${type} by ${event.evidence === "relay" ? "the relay" : holder}` };
  }
}

function proofWords({ type, evidence }: StoryEvent, isProven: boolean, look: Look): string {
  if (type === "delivered") return look.style("dim", "proves no receipt: only the ack does");
  if (evidence === undefined) return "";
  const words = evidenceWords[evidence];
  return isProven && evidence === "signed" ? `${words}, ${look.style("green", "signature verified")}` : words;
}
