/** A server that drivers connect to, and what the disk under it is. */

import type { Disk } from "../disk/disk.ts";
import type { Say } from "../obtain/say.ts";
import type { Usage } from "./process-tree.ts";

/** What a driver must know to connect: plain words, since they go to another process. */
export type Address = Readonly<Record<string, string>>;

export interface Server {
  readonly address: Address;
  /** Of what exactly this is: versions and settings. */
  readonly about: string;
  /** With everything it started, and the database that it works on. */
  usage(): Usage | null;
  stop(): Promise<void>;
}

/** A database on a server that others use before and after. */
export interface Database {
  readonly url: string;
  readonly about: string;
  /** Of the whole server. */
  usage(): Usage | null;
}

export interface Place {
  /** Empty, and the server's own. */
  readonly directory: string;
  readonly disk: Disk;
  readonly say: Say;
  /** Absent: whoever needs one starts a server of its own. */
  readonly database?: Database;
}
