/** Who calls: what proves it to the relay, and what signs its documents. */

import type { Signer } from "@handfast/protocol";

export interface Identity {
  /** Null: a token only, so nothing is signed. */
  readonly signer: Signer | null;
  /** A session credential that lives for a while yet, or the token. `fresh`: the last one was refused. */
  authorization(fresh?: boolean): Promise<string>;
  /** The relay says that it does not know the agent: registers it (again). Rejects where it cannot. */
  readmit(): Promise<void>;
  /** The relay was away and is back: it may have forgotten what the agent offers, though not the agent. */
  returned?(): void;
}
