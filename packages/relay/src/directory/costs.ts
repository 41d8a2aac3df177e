/**
 * What opens the sealed costs of each agent. It never stands in a view: who may be told is decided here, since a price that
 * rivals can watch is the beginning of a cartel.
 */

import { type Capability, type CostOpening, type Costs as Openings, opensCost } from "@handfast/protocol";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { type Change, RecordTable } from "./record-table.ts";
import type { Records } from "./records.ts";

export class Costs {
  /** By agent, then by capability. */
  private readonly rows: RecordTable<Openings>;

  constructor(namespace: string) {
    this.rows = new RecordTable(namespace, "cost");
  }

  load(records: Records): Promise<void> {
    return this.rows.load(records);
  }

  get(agent: string, capability: string): CostOpening | null {
    const openings = this.rows.get(agent);
    return openings !== undefined && Object.hasOwn(openings, capability) ? (openings[capability] ?? null) : null;
  }

  /** The changes that keep what opens these capabilities. What was given before need not be given again. */
  next(agent: string, capabilities: readonly Capability[], given: Openings): readonly Change[] {
    const sealed = new Map(
      capabilities.flatMap(({ name, cost }) => (cost === undefined ? [] : [[name, cost] as const])),
    );
    const extra = Object.keys(given).find((name) => !sealed.has(name));
    if (extra !== undefined) {
      const next = "Seal it in the capability, or leave it out.";
      throw refused("cost_unsealed", `/costs/${extra}`, `is a cost that the manifest does not seal. ${next}`);
    }
    const openings: [string, CostOpening][] = [];
    for (const [index, { name, cost }] of capabilities.entries()) {
      if (cost === undefined) continue;
      const opening = Object.hasOwn(given, name) ? given[name] : undefined;
      if (opening !== undefined && !opensCost(nodeCrypto, opening, cost)) {
        const next = "Seal it anew: SHA-256 over the salt's 16 bytes and the canonical JSON of the cost.";
        throw refused("cost_differs", `/costs/${name}`, `is not the cost that the manifest seals. ${next}`);
      }
      const known = opening ?? this.get(agent, name);
      if (known === null || !opensCost(nodeCrypto, known, cost)) {
        const next = `Send {salt, cost} as costs[${JSON.stringify(name)}], beside what is signed.`;
        throw refused("cost_missing", `/capabilities/${index}/cost`, `is sealed, and nothing opens it. ${next}`);
      }
      openings.push([name, known]);
    }
    if (openings.length === 0) return this.ending(agent);
    return [this.rows.set(agent, Object.fromEntries(openings))];
  }

  ending(agent: string): readonly Change[] {
    return this.rows.get(agent) === undefined ? [] : [this.rows.delete(agent)];
  }
}

function refused(reason: "cost_unsealed" | "cost_differs" | "cost_missing", path: string, message: string): Problem {
  return new Problem(400, reason, `The manifest is refused: ${path} ${message}`, { path });
}
