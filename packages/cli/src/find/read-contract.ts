/** A contract by its id, and where there is none, for whom. */

import type { Client, Contract } from "@handfast/client";
import { CliError, reasonOf } from "../errors.ts";

export async function readContract(client: Client, id: string): Promise<Contract> {
  try {
    return await client.contract(id);
  } catch (error) {
    if (reasonOf(error) !== "unknown_contract") throw error;
    const what = `There is no contract ${id} that ${client.agent} is a party of.`;
    const remedy = `You called as ${client.agent}. Name the agent that agreed with --agent; its own: handfast contracts.`;
    throw new CliError("missing", what, remedy, "unknown_contract");
  }
}
