/** Which faults meet the nodes, and in which order: from one seed, so that a run can be told again. */

import { Random } from "../../../packages/sim/src/random.ts";

export type Fault =
  /** A node is killed and started again. */
  | { readonly kind: "kill"; readonly node: number }
  /** The primary is lost for good, its standby promoted. */
  | { readonly kind: "failover" }
  /** The primary is killed and started again. */
  | { readonly kind: "restart" }
  /** A node and the database cannot reach each other as they should. */
  | { readonly kind: "partition"; readonly node: number; readonly how: "cut" | "swallow" | "delay" };

export interface FaultCounts {
  readonly kills: number;
  readonly failovers: number;
  readonly restarts: number;
  readonly partitions: number;
}

const ways = ["cut", "swallow", "delay"] as const;

export interface PlannedFault {
  readonly fault: Fault;
  /** So many handoffs are completed after the last fault before this one comes. */
  readonly after: number;
}

export function planFaults(counts: FaultCounts, nodes: number, seed: number): readonly PlannedFault[] {
  const random = new Random(seed);
  const node = () => random.between(0, nodes - 1);
  const faults: Fault[] = [
    ...times(counts.kills, () => ({ kind: "kill", node: node() }) as const),
    ...times(counts.failovers, () => ({ kind: "failover" }) as const),
    ...times(counts.restarts, () => ({ kind: "restart" }) as const),
    ...times(counts.partitions, (nth) => ({ kind: "partition", node: node(), how: ways[nth % 3] ?? "cut" }) as const),
  ];
  return shuffled(faults, random).map((fault) => ({ fault, after: random.between(2, 9) }));
}

function times<T>(count: number, make: (nth: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, nth) => make(nth));
}

function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.between(0, left.length - 1), 1));
}
