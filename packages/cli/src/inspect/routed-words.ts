/** Why a handoff went to the agent that it went to, in words. */

import type { WhyView } from "@handfast/protocol/wire";
import { span } from "../moments.ts";
import { counted } from "./names.ts";

/** As the end of "it went there because"; null: there was nothing to choose, and no more to say. */
export function routedWords(why: WhyView): string | null {
  const canary = canaryWords(why);
  const rule = ruleWords(why);
  if (rule === null) return canary;
  return canary === null ? rule : `${rule}; ${canary}`;
}

function ruleWords({ rule, among, score, over }: WhyView): string | null {
  const weighed = score === undefined || over === undefined ? "" : `, at ${span(score)} before ${over}`;
  const agents = counted(among, "agent");
  switch (rule) {
    case "only":
      return null;
    case "least_loaded":
      return `it had the most free slots of ${agents}`;
    case "better_of_two":
      return `it was the better of two drawn from ${agents}${weighed}`;
    case "newcomer":
      return `a small share goes to newcomers, drawn from ${agents}`;
    case "established":
      return `the others of ${agents} are newcomers`;
    case "preferred":
      return "it had asked the question that was answered";
    case "sticky_order":
      return "it served the handoff before this one in its ordering key";
    case "conversation":
      return "it served the conversation last";
    case "elsewhere":
      return `an earlier try elsewhere came to nothing${weighed}`;
    case "no_other":
      return "it is breached or ejected, and no other agent that could have it was there and free in time";
    default:
      return rule satisfies never;
  }
}

function canaryWords({ canary }: WhyView): string | null {
  if (canary === undefined) return null;
  return canary.met ? `canary ${canary.version}` : `canary ${canary.version}, which nobody there offers`;
}
