/** What the parts of the sending side share: the connected agent, its waits, and what it does in the background. */

import type { Base } from "../base.ts";
import type { Errands } from "./errands.ts";
import type { Parent } from "./parent.ts";
import type { Waits } from "./waits.ts";

export interface Sender {
  readonly base: Base;
  readonly waits: Waits;
  readonly errands: Errands;
  /** The handoff in whose name it sends; null: in the agent's own. */
  readonly parent: Parent | null;
  /** How long it goes on trying while the relay is away; null: as long as the client does. */
  readonly patience_ms: (() => number) | null;
}
