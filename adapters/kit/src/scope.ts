/**
 * The handoff that a framework's run works on, for whatever the run calls: a tool that hands work on then names it as the
 * cause, and the relay ends what is below it together with it.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { SendingFrom } from "@handfast/client";
import type { Keys } from "./keys.ts";
import type { Outcome } from "./outcome.ts";

export interface Scope {
  /** Equal in every attempt of the run: what is sent again is sent under the same key. */
  readonly run: string;
  /** In place of the client: what is sent is a child of the handoff being worked on. */
  readonly sender?: SendingFrom;
  /** For what is sent, where another attempt asks the model again, which gives its calls other ids. */
  readonly keys?: Keys;
  /** Outcomes that are at hand, by the id of the call that waited for each. */
  readonly outcomes?: ReadonlyMap<string, Outcome>;
}

const scopes = new AsyncLocalStorage<Scope>();

export function inScope<T>(scope: Scope, run: () => T): T {
  return scopes.run(scope, run);
}

export function scopeNow(): Scope | null {
  return scopes.getStore() ?? null;
}
