/** As whom a command asks. */

import type { Client } from "@handfast/client";

/** The name that a relay gives to whoever holds the operator's token. */
const operator_name = "operator";

/** Null: an operator, who sends and is sent nothing. */
export function callerName({ agent }: Pick<Client, "agent">): string | null {
  return agent === operator_name ? null : agent;
}
