/** The disk under a server: as it is, or with every sync made slower. */

import type { Command } from "../servers/command.ts";

export interface Disk {
  readonly name: "as it is" | "slow";
  wrap(command: Command): Command;
  /** How many syncs there were since the program was wrapped; null where nobody counts. */
  syncs(): number | null;
}

export const plainDisk: Disk = { name: "as it is", wrap: (command) => command, syncs: () => null };
