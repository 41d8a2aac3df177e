/** A known mistake, put back to see whether the simulation finds it: at one of four places around what is tested. */

import type { Store } from "@handfast/engine";
import type { CoreDoor } from "../core-door/observed-core.ts";
import type { Front } from "../world/relay-process.ts";
import type { Timeline } from "../world/timeline.ts";

export interface Mistake {
  /** The disk itself, below the ledger. */
  readonly disk?: (disk: Store) => Store;
  /** What a relay process believes to be the disk, above the ledger; anew for each process. */
  readonly store?: (store: Store, timeline: Timeline) => Store;
  /** What actors believe to be the engine; anew for each process. */
  readonly front?: (front: Front, timeline: Timeline) => Front;
  /** How the engine decides. */
  readonly core?: (core: CoreDoor) => Partial<CoreDoor>;
}
