/** One handoff from its sending to its outcome, for a tool that waits in place. */

import type { Client, Handle, SendOptions, Target } from "@handfast/client";
import { shortKey } from "./keys.ts";
import { type Outcome, outcomeOf, refusalAsOutcome } from "./outcome.ts";
import { type Scope, scopeNow } from "./scope.ts";

export interface HandoffRequest {
  readonly target: Target;
  readonly input: unknown;
  readonly options?: SendOptions;
  /** The id of the call that asks for it. */
  readonly call?: string | undefined;
  /** What the call says, as the run's state has it. Default: the target and the input. */
  readonly content?: readonly unknown[];
  readonly signal?: AbortSignal | undefined;
}

/** Ends with a value however the handoff ended. Rejects where it could not be sent, or was called off. */
export async function handOff(hf: Client, request: HandoffRequest): Promise<Outcome> {
  const scope = scopeNow();
  const { target, input, options = {}, call, signal } = request;
  const ready = call === undefined ? undefined : scope?.outcomes?.get(call);
  if (ready !== undefined) return ready;
  const idempotencyKey = options.idempotencyKey ?? keyIn(scope, request);
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const until = signal === undefined ? {} : { signal };
  let handle: Handle;
  try {
    handle = await (scope?.sender ?? hf).send(target, input, { ...options, ...key, ...until });
  } catch (error) {
    return refusalAsOutcome(error);
  }
  try {
    return await outcomeOf(handle, { take: true, ...until });
  } catch (error) {
    // Below a handoff the relay calls it off itself, once that has ended: another attempt may still want it.
    if (signal?.aborted === true && scope?.sender === undefined) await callOff(handle);
    throw error;
  }
}

/** In a run that is tried again it is the same, and nothing is sent twice. */
function keyIn(scope: Scope | null, { target, input, call, content }: HandoffRequest): string | undefined {
  if (scope?.keys !== undefined) return scope.keys.next(...(content ?? [target, input]));
  return scope === null || call === undefined ? undefined : shortKey(`${scope.run}:${call}`);
}

/** The caller waits no longer. It is told so in any case: that the relay is away too is not its concern. */
async function callOff(handle: Handle): Promise<void> {
  await handle.cancel("The caller gave up.").catch(() => {});
}
