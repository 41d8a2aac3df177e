/** Hits, misses and offers in words and rows. */

import type { Hit, Miss } from "@handfast/client";
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

/** Who came nearest, and what each lacks: beside the data, so on stderr. */
export function noteMisses(terminal: Terminal, near: readonly Miss[]): void {
  if (near.length === 0) return;
  terminal.note("The nearest:");
  for (const { agent_id, capability, version, lacks, schemas } of near) {
    const name = version === null ? capability : `${capability} ${version}`;
    terminal.note(`  ${cleanLine(`${agent_id} · ${name}`)}`);
    for (const line of [...lacks, ...schemaLines(schemas)]) terminal.note(`    lacks: ${cleanLine(line)}`);
  }
}

function short(share: number): string {
  return String(Number(share.toFixed(3)));
}
