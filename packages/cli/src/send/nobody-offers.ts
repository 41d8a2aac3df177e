/** A capability that nobody offers: most likely mistyped, else there is no worker yet. */

import type { Client } from "@handfast/client";
import { didYouMean } from "@handfast/relay/did-you-mean";
import { CliError, tell } from "../errors.ts";

const agents_most = 500;

export async function nobodyOffers(error: unknown, client: Client, capability: string): Promise<CliError> {
  const { exit } = tell(error);
  const guess = didYouMean(capability, await offered(client)).trim();
  const start = `${guess === "" ? "Start one" : "Else start one"}: handfast serve ${capability} -- COMMAND`;
  const remedy = `${guess === "" ? "" : `${guess} `}${start}; or wait for one with --queue-if-absent.`;
  return new CliError(exit, `No agent offers ${JSON.stringify(capability)}.`, remedy, "nobody_offers");
}

/** A courtesy: what cannot be read is not guessed from. */
async function offered(client: Client): Promise<readonly string[]> {
  try {
    const { agents } = await client.call("agents", { query: { limit: agents_most } });
    return [...new Set(agents.flatMap(({ capabilities }) => capabilities.map(({ name }) => name)))];
  } catch {
    return [];
  }
}
