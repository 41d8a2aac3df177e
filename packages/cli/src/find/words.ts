/** Hits, misses and offers in words and rows. */

import type { Declined, Hit, Miss } from "@handfast/client";
import type { Terminal } from "../terminal.ts";
import { cleanLine } from "../text.ts";

/** "verified 0.95 (0.951–1, n=73)": a claim beside what was measured, never a bare percentage. */
export function reliabilityWords({ claim, status, attempts, lower, upper }: Hit["reliability"]): string {
  const measured = attempts === 0 ? "n=0" : `${short(lower)}–${short(upper)}, n=${Math.round(attempts)}`;
  return claim === null ? `${status} (${measured})` : `${status} ${claim} (${measured})`;
}

export function costWords({ cost, capability }: Pick<Hit, "cost" | "capability">): string {
  if (cost !== null) return `${cost.amount} ${perWords(cost)}`;
  if (capability.cost !== undefined) return "sealed";
  return capability.proposes === true ? "on asking" : "none said";
}

export function perWords({ per }: NonNullable<Hit["cost"]>): string {
  return `per ${per === "handoff" ? "handoff" : "1,000 tokens"}`;
}

/** What is proven, unknown or refuted of the schemas; nothing where nobody asked. */
export function schemaLines(schemas: Hit["schemas"] | undefined): readonly string[] {
  if (schemas === undefined) return [];
  return (["input", "output"] as const).flatMap((side) => {
    const { verdict, because, counterexample } = schemas[side];
    if (verdict === "unasked") return [];
    const why = because === undefined ? "" : `: ${because}`;
    const shown = counterexample === undefined ? "" : `, as by ${JSON.stringify(counterexample)}`;
    return [`${side} schema ${verdict}${why}${shown}`];
  });
}

/** Of those that all lack the same, so many are named. */
const alike_named = 2;

/** Who came nearest, and what each lacks: beside the data, so on stderr. */
export function noteMisses(terminal: Terminal, near: readonly Miss[]): void {
  const [first] = near;
  if (first === undefined) return;
  // A long list of agents that all have nothing to do with it helps nobody.
  if (near.length > alike_named && near.every((miss) => isAlike(miss, first))) {
    const named = near.slice(0, alike_named).map(missName).join(", ");
    terminal.note(cleanLine(`The nearest, ${named} and ${near.length - alike_named} more, all lack the same:`));
    for (const line of first.lacks) terminal.note(`    lacks: ${cleanLine(line)}`);
    return;
  }
  terminal.note("The nearest:");
  for (const miss of near) {
    const { lacks, schemas } = miss;
    terminal.note(`  ${cleanLine(missName(miss))}`);
    for (const line of lacks) terminal.note(`    lacks: ${cleanLine(line)}`);
    // What is refuted stands among what it lacks, in words.
    for (const line of schemaLines(schemas)) {
      if (!line.includes(" schema refuted")) terminal.note(`    ${cleanLine(line)}`);
    }
  }
}

/** Why there is no offer of one that could have made one: not always because it would not. */
export function declinedWords({ agent_id, reason, message }: Declined): string {
  switch (reason) {
    case "above_max_cost":
      return `${agent_id} asks more than --max-cost.`;
    case "no_answer":
      return `${agent_id} did not answer in time; --reply-by gives it longer.`;
    case "sealed":
    case "too_many_calls":
    case "too_many_offers":
      return `${agent_id} was not asked (${reason}): ${message}`;
    default:
      return `${agent_id} declined (${reason}): ${message}`;
  }
}

/** One that offers nothing of the kind has nothing to be named. */
function missName({ agent_id, capability, version }: Miss): string {
  if (capability === "") return agent_id;
  return version === null ? `${agent_id} · ${capability}` : `${agent_id} · ${capability} ${version}`;
}

function isAlike(one: Miss, other: Miss): boolean {
  return one.schemas === undefined && one.lacks.join("\n") === other.lacks.join("\n");
}

function short(share: number): string {
  return String(Number(share.toFixed(3)));
}
