/** What calls of discovery should name to mean something: agents that are there, and imports of the relay from itself. */

import { type Persona, stranger } from "../cast/persona.ts";
import { type Random, weighted } from "../chance.ts";
import type { Scene } from "./scene.ts";

/** Null: it is no call of discovery that names an agent. */
export function discoveryParams({ troupe, url }: Scene, name: string, random: Random): Record<string, string> | null {
  const { sender, worker } = troupe;
  switch (name) {
    case "discovery":
    case "agent_card":
      return { name: random.pick([sender.name, worker.name, imported(worker.name, url), "nobody"]) };
    case "refresh_import":
    case "drop_import":
      return { name: imported(worker.name, url) };
    default:
      return null;
  }
}

/** Mostly what can be fetched: any other address is waited for, or not allowed. */
export function importUrl({ troupe, url }: Scene, random: Random): string {
  const { worker, sender } = troupe;
  return weighted(random, [
    [80, `${url}/v1/discovery/${worker.name}`],
    [5, `${url}/v1/discovery/${sender.name}/agent-card.json`],
    [5, `${url}/v1/discovery/nobody`],
    [5, `${url}/healthz`],
    [5, "http://127.0.0.1:1/"],
  ]);
}

function imported(name: string, url: string): string {
  return `${name}@${new URL(url).host}`;
}

/** Imports are an operator's; the rest is anybody's. */
export function discoverer({ troupe }: Scene, name: string, random: Random): Persona {
  const { sender, worker, rival, operator } = troupe;
  return weighted(random, [
    [name.includes("import") ? 70 : 8, operator],
    [name.includes("import") ? 10 : 60, sender],
    [10, worker],
    [4, rival],
    [6, stranger],
  ]);
}
