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

/** "worker w-1 of agent upper-1"; a worker named after its agent is not named twice. */
export function holderWords(agent: string, worker: string | null | undefined): string {
  return worker === null || worker === undefined ? `agent ${agent}` : `worker ${worker} of agent ${agent}`;
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
