/** Starts mutants, lets the suite at them, and tells whether each was noticed. */

import type { Check } from "../check.ts";
import type { Mutant } from "../mutants/mutant.ts";
import { checks } from "../promises/all.ts";
import { runConformance } from "../run/run-conformance.ts";
import { type Failure, mistake, type Tried } from "../run/verdict.ts";
import { selectChecks } from "../select.ts";
import { RelayProcess } from "./relay-process.ts";
import { short_lived_flags } from "./short-lived.ts";

export interface Tryout {
  readonly mutant: Mutant;
  /** The promises that it was found to break. */
  readonly broken: readonly Tried[];
  /** Of the checks that must notice, those that did not. */
  readonly blind: readonly string[];
  readonly took_ms: number;
}

/** With the checks that must notice it, or with all. */
export async function tryMutant(mutant: Mutant, full = false): Promise<Tryout> {
  const began = performance.now();
  const selected: readonly Check[] = full ? checks : selectChecks(checks, mutant.killed_by);
  const relay = await RelayProcess.start({
    mutant: mutant.name,
    flags: mutant.short_lived === true ? short_lived_flags : [],
  });
  try {
    const { target } = relay;
    const short_lived = mutant.short_lived === true ? target : null;
    const { tried } = await runConformance({ ...target, short_lived }, { checks: selected });
    const broken = tried.filter(({ verdict }) => verdict.outcome === "broken" && !isOurMistake(verdict.failure));
    const noticed = new Set(broken.map(({ check }) => check.id));
    const blind = mutant.killed_by.filter((id) => !noticed.has(id));
    return { mutant, broken, blind, took_ms: performance.now() - began };
  } finally {
    await relay.dispose();
  }
}

/** A check that came to grief by itself has noticed nothing. */
function isOurMistake({ expected }: Failure): boolean {
  return expected === mistake;
}

/** So many at a time; each is told of as it is done. */
export async function tryMutants(
  mutants: readonly Mutant[],
  at_once: number,
  full: boolean,
  onTried: (tryout: Tryout) => void,
): Promise<void> {
  const left = [...mutants];
  const lane = async () => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) onTried(await tryMutant(mutant, full));
  };
  await Promise.all(Array.from({ length: at_once }, lane));
}

/** Lines of the table: the mutant, who noticed it, and each by what. */
export function renderTryout({ mutant, broken, blind, took_ms }: Tryout): string {
  const mark = blind.length === 0 ? "✓" : "✗";
  const head = `${mark} ${mutant.name.padEnd(38)} ${(took_ms / 1_000).toFixed(1).padStart(5)} s  `;
  const missed = blind.length === 0 ? [] : [`not noticed by ${blind.join(", ")}`];
  const said = [...missed, ...seenBy(broken).map(([id, expected]) => `${id}: ${expected}`)];
  return head + said.join(`\n${" ".repeat(head.length)}`);
}

/** The same for programs. */
export function tryoutJson({ mutant, broken, blind, took_ms }: Tryout): object {
  const { name, breaks, killed_by } = mutant;
  const noticed_by = seenBy(broken).map(([id, expected]) => ({ id, expected }));
  return { name, breaks, killed_by, noticed: blind.length === 0, noticed_by, blind, took_ms: Math.round(took_ms) };
}

/** Each promise once, with what was expected where it broke first. */
function seenBy(broken: readonly Tried[]): readonly (readonly [id: string, expected: string])[] {
  return [...Map.groupBy(broken, ({ check }) => check.id)].map(([id, [first]]) => [
    id,
    first?.verdict.outcome === "broken" ? first.verdict.failure.expected : "",
  ]);
}
