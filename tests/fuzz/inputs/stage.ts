/** What all lanes of a run share: the relay they fire at, and what is counted, kept and watched. */

import type { Random } from "../chance.ts";
import type { Ledger } from "../judge/ledger.ts";
import type { Tally } from "../judge/tally.ts";
import type { Slow } from "./slow.ts";

export interface Stage {
  readonly port: number;
  readonly url: string;
  readonly tally: Tally;
  readonly ledger: Ledger;
  readonly slow: Slow;
  /** Ids of handoffs between honest agents, newest last: nobody else may do anything with them. */
  readonly honest_ids: () => readonly string[];
  /** Copies of the store that may still be asked for: each takes as much disk as the store. */
  backups_left: number;
  /** Whether this machine lets a socket come from any address of the loopback network. */
  readonly has_addresses: boolean;
  /** Longer than any answer takes, however busy the machine: nothing came, so nothing will. */
  readonly answer_within_ms: number;
}

/** A wait is broken off after so long: waiting itself is tested elsewhere. */
export const patience_ms = 150;

/** Where a stranger comes from: few calls are taken from one address, so each has its own. */
export function someAddress({ has_addresses }: Stage, random: Random): string | null {
  return has_addresses ? `127.${random.between(1, 40)}.${random.between(0, 255)}.${random.between(1, 254)}` : null;
}
