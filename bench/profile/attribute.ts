/**
 * Where the time of one handoff goes, from a CPU profile. A sample counts for the innermost function of its stack that a
 * rule knows: what Node and native code do counts for whoever called them.
 */

import type { CpuProfile, ProfileNode } from "../inspector.ts";
import { type Rule, shortPath, special } from "./parts.ts";

interface PartTime {
  readonly part: string;
  readonly us_per_handoff: number;
}

export interface Attribution {
  /** Longest first, idle last; they add up to the time that passed for each handoff. */
  readonly parts: readonly PartTime[];
  /** The functions that took most by themselves. */
  readonly top: readonly { readonly name: string; readonly us_per_handoff: number }[];
}

/**
 * Samples come every fraction of a millisecond. A gap as long as this means that the process was not running: it waited
 * for the disk, which native code of the store does, or for a core that others had.
 */
const gap_us = 10_000;
const not_running = "not running (others had the core)";
const waits_for_disk: ReadonlySet<string> = new Set(["commit", "statements"]);
const top_functions = 15;

export function attribute(profile: CpuProfile, rules: readonly Rule[], handoffs: number): Attribution {
  const partOf = partFinder(profile.nodes, rules);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  for (const [nth, id] of profile.samples.entries()) {
    const took_us = Math.max(0, profile.timeDeltas[nth] ?? 0);
    const part = partOf(id);
    const node = nodes.get(id);
    const is_gap = took_us > gap_us && part !== "idle" && part !== special.get("(garbage collector)");
    const on_disk = node?.callFrame.url === "" && waits_for_disk.has(part);
    add(parts, is_gap && !on_disk ? not_running : part, took_us);
    if (node !== undefined && !is_gap && !special.has(node.callFrame.functionName))
      add(functions, nameOf(node), took_us);
  }
  const each = (us: number) => Number((us / handoffs).toFixed(1));
  const sorted = (times: ReadonlyMap<string, number>) => [...times].toSorted(([, a], [, b]) => b - a);
  const last = (part: string) => (part === "idle" ? 2 : part === not_running ? 1 : 0);
  return {
    parts: sorted(parts)
      .toSorted(([a], [b]) => last(a) - last(b))
      .map(([part, us]) => ({ part, us_per_handoff: each(us) })),
    top: sorted(functions)
      .slice(0, top_functions)
      .map(([name, us]) => ({ name, us_per_handoff: each(us) })),
  };
}

function partFinder(nodes: readonly ProfileNode[], rules: readonly Rule[]): (id: number) => string {
  const parents = new Map<number, ProfileNode>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = new Map<number, string>();
  const find = (id: number): string => {
    const found = known.get(id) ?? partOfStack(byId.get(id), parents, rules);
    known.set(id, found);
    return found;
  };
  return find;
}

/**
 * Inner frames decide before outer ones, except that Node's own code and the way to a statement stand for whoever called
 * them.
 */
function partOfStack(
  leaf: ProfileNode | undefined,
  parents: ReadonlyMap<number, ProfileNode>,
  rules: readonly Rule[],
): string {
  let fallback: string | null = null;
  for (let node = leaf; node !== undefined; node = parents.get(node.id)) {
    const { functionName, url } = node.callFrame;
    const named = special.get(functionName);
    if (named !== undefined && node === leaf) return named;
    const path = shortPath(url);
    const found = url === "" ? undefined : rules.find((rule) => fits(rule, path, functionName));
    if (found === undefined) continue;
    if (!isBeneath(path)) return found.part;
    fallback ??= found.part;
  }
  return fallback ?? "other";
}

/** Code that only serves its caller: Node's own, and the store's thin layer over a connection. */
function isBeneath(path: string): boolean {
  return path.startsWith("node:") || /^store-sqlite\/src\/connection\.ts/.test(path);
}

function fits({ file, function: name }: Rule, path: string, functionName: string): boolean {
  return file.test(path) && (name === undefined || name.test(functionName));
}

function nameOf({ callFrame: { functionName, url } }: ProfileNode): string {
  return `${functionName === "" ? "(anonymous)" : functionName} ${url === "" ? "(native)" : shortPath(url)}`;
}

function add(times: Map<string, number>, key: string, us: number): void {
  times.set(key, (times.get(key) ?? 0) + us);
}
