/**
 * Which agents offer which capability, grouped by their input schema: ten thousand agents with one schema cost a
 * submit one check.
 */

import type { Capability } from "@handfast/protocol";
import { canonicalDigest } from "../schemas/canonical-json.ts";
import { Few } from "./few.ts";

export interface OfferingGroup {
  /** Undefined: takes anything. */
  readonly input_schema: unknown;
  readonly agents: Pick<Few<string>, "size" | "has"> & Iterable<string>;
}

export class Offerings {
  private readonly groups = new Map<string, Map<string, OfferingGroup & { readonly agents: Few<string> }>>();

  add(agent: string, capabilities: readonly Capability[]): void {
    for (const { name, input_schema } of capabilities) {
      const ofName = this.groups.get(name) ?? new Map();
      this.groups.set(name, ofName);
      const key = groupKey(input_schema);
      const group = ofName.get(key) ?? { input_schema, agents: new Few<string>() };
      ofName.set(key, group);
      group.agents.add(agent);
    }
  }

  remove(agent: string, capabilities: readonly Capability[]): void {
    for (const { name, input_schema } of capabilities) {
      const ofName = this.groups.get(name);
      const key = groupKey(input_schema);
      const group = ofName?.get(key);
      group?.agents.delete(agent);
      if (group?.agents.size === 0) ofName?.delete(key);
      if (ofName?.size === 0) this.groups.delete(name);
    }
  }

  clear(): void {
    this.groups.clear();
  }

  /** The largest group first. */
  of(capability: string): readonly OfferingGroup[] {
    const groups = this.groups.get(capability);
    return groups === undefined ? [] : [...groups.values()].sort((a, b) => b.agents.size - a.agents.size);
  }

  /** How many agents offer it, those in `except` left out. */
  count(capability: string, except: ReadonlySet<string>): number {
    const groups = [...(this.groups.get(capability)?.values() ?? [])];
    const all = groups.reduce((sum, { agents }) => sum + agents.size, 0);
    const left_out = [...except].filter((agent) => groups.some(({ agents }) => agents.has(agent))).length;
    return all - left_out;
  }
}

function groupKey(input_schema: unknown): string {
  return input_schema === undefined ? "" : canonicalDigest(input_schema);
}
