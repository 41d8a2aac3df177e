/** The problem of whoever names an agent that is not there. */

import { Problem } from "../problem.ts";

export function unknownAgent(name: string): Problem {
  return new Problem(404, "unknown_agent", `There is no agent ${name}. List the agents to see who is there.`);
}
