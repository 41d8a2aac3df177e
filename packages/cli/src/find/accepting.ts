/** The line that agrees to an offer that was shown. */

import type { Offer } from "@handfast/client";
import type { Options } from "../options.ts";

/** What the next round is asked again; `--to` and `--max-cost` are those of the offer. */
const repeated = [
  ...["url", "agent", "version-range", "input", "input-schema", "output-schema", "within", "min-reliability"],
  ...["timeout", "attempts", "deadline", "max-attempts", "evidence", "reply-by", "valid"],
];

/** What was typed, and of whom, for what and for how much: the offers of another round may be others. */
export function acceptingLine(options: Options, offer: Pick<Offer, "agent_id" | "capability" | "cost">): string {
  const { agent_id, capability, cost } = offer;
  const typed = repeated.flatMap((name) => {
    const text = options.text(name);
    return text === undefined ? [] : [`--${name}`, quoted(text)];
  });
  const tags = options.list("tag").flatMap((tag) => ["--tag", quoted(tag)]);
  const most = cost?.per === "handoff" ? String(cost.amount) : options.text("max-cost");
  const price = most === undefined ? [] : ["--max-cost", most];
  const live = options.flag("live") ? ["--live"] : [];
  const all = [capability.name, ...typed, ...tags, ...live, "--to", agent_id, ...price, "--accept"];
  return `handfast negotiate ${all.join(" ")}`;
}

/** As a shell reads it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
