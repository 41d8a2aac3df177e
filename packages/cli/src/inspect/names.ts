/** How handoffs, their targets and their holders are named in a line. */

import type { HandoffView } from "@handfast/protocol/wire";

/** The last characters of an id: its beginning is only the time, and alike for all of one minute. */
export function shortId(id: string): string {
  return id.slice(-8);
}

type Target = Pick<HandoffView, "to" | "capability">;

/** "capability upper", "agent upper-1", "agent upper-1 for upper". */
export function targetWords({ to, capability }: Target): string {
  if (to === null) return `capability ${capability}`;
  return capability === null ? `agent ${to}` : `agent ${to} for ${capability}`;
}

/** The shortest name of what is wanted, for a column. */
export function targetName({ to, capability }: Target): string {
  if (to === null) return capability ?? "";
  return capability === null ? `@${to}` : `${capability}@${to}`;
}

/** "worker w-1 of agent upper-1"; the name of a worker that begins with its agent's says both. */
export function holderWords(agent: string, worker: string | null | undefined): string {
  if (worker === null || worker === undefined) return `agent ${agent}`;
  return isNamedAfter(worker, agent) ? `worker ${worker}` : `worker ${worker} of agent ${agent}`;
}

/** The same where the line says anyway that it is a worker. */
export function holderName(agent: string, worker: string | null | undefined): string {
  return worker && isNamedAfter(worker, agent) ? worker : holderWords(agent, worker);
}

function isNamedAfter(worker: string, agent: string): boolean {
  return worker === agent || (worker.startsWith(agent) && /^[^A-Za-z0-9]/.test(worker.slice(agent.length)));
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** "a", "a and b", "a, b and c"; of many only the first few. */
export function listed(names: readonly string[], most = 3): string {
  if (names.length > most) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
