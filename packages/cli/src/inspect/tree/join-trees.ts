/** A correlation too large for one answer comes in parts: a child may stand in a later part than its parent. */

import type { CorrelationNode, HandoffView } from "@handfast/protocol/wire";
import type { Correlation } from "./tree-lines.ts";

export function joinTrees(parts: readonly Correlation[]): Correlation {
  const [only, ...others] = parts;
  if (only === undefined) throw new RangeError("A correlation has at least one part.");
  if (others.length === 0) return only;
  const handoffs = parts.flatMap(({ tree }) => tree.flatMap(flat));
  return { ...only, summary: addUp(parts), tree: treeOf(handoffs), cursor: null };
}

function flat({ handoff, children }: CorrelationNode): HandoffView[] {
  return [handoff, ...children.flatMap(flat)];
}

function treeOf(handoffs: readonly HandoffView[]): CorrelationNode[] {
  const nodes = new Map(handoffs.map((handoff) => [handoff.id, { handoff, children: [] as CorrelationNode[] }]));
  const roots: CorrelationNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.handoff.causation === null ? undefined : nodes.get(node.handoff.causation.id);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

function addUp(parts: readonly Correlation[]): Correlation["summary"] {
  const sum = (pick: (summary: Correlation["summary"]) => number) =>
    parts.reduce((total, { summary }) => total + pick(summary), 0);
  return {
    total: sum(({ total }) => total),
    open: sum(({ open }) => open),
    ended: sum(({ ended }) => ended),
    by_state: addCounts(parts.map(({ summary }) => summary.by_state)),
    by_code: addCounts(parts.map(({ summary }) => summary.by_code)),
  };
}

function addCounts(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const added: Record<string, number> = {};
  for (const each of counts) for (const [key, count] of Object.entries(each)) added[key] = (added[key] ?? 0) + count;
  return added;
}
