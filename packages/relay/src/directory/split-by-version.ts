/** Which of those who offer a capability offer it in a version that is asked for. */

import { isInRange } from "@handfast/protocol";

export interface ByVersion {
  readonly within: readonly string[];
  readonly outside: readonly string[];
}

export function splitByVersion(
  agents: Iterable<string>,
  range: string | null,
  versionOf: (agent: string) => string | undefined,
): ByVersion {
  if (range === null) return { within: [...agents], outside: [] };
  const within: string[] = [];
  const outside: string[] = [];
  for (const agent of agents) (isInRange(versionOf(agent), range) ? within : outside).push(agent);
  return { within, outside };
}
