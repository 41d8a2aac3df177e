/** What all work of one server shares. */

import type { Base } from "../base.ts";
import type { Sending } from "../send/api.ts";
import type { Beats } from "./beats.ts";
import type { Handlers } from "./handlers.ts";

export interface Serving {
  readonly base: Base;
  readonly sending: Sending;
  readonly worker: string;
  readonly handlers: Handlers;
  readonly beats: Beats;
  /** Aborted when the server is no more: nothing is said to the relay any longer. */
  readonly gone: AbortSignal;
}
