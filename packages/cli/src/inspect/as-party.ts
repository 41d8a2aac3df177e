/** Acts that belong to a party of a handoff: by the agent itself first, signed; else by the operator, if there is one. */

import type { Client } from "@handfast/client";
import type { Context } from "../command.ts";
import { codeOf } from "./relay-reads.ts";

export async function asParty<T>(context: Context, act: (client: Client) => Promise<T>): Promise<T> {
  const agent = await context.connect("agent");
  try {
    return await act(agent);
  } catch (error) {
    if (codeOf(error) !== 404 && codeOf(error) !== 403) throw error;
    const operator = await context.connect("operator");
    if (operator.agent === agent.agent) throw error;
    return act(operator);
  }
}
