/** What a worker holds, as the store has it. */

import type { Handoff } from "@handfast/core";
import type { Holder } from "./jobs.ts";
import type { Store } from "./store.ts";

/** On a shared store at least those leases that this request of its got. */
export async function readHeld(
  store: Store,
  { namespace, agent, worker, request_id }: Holder,
  isShared: boolean,
): Promise<readonly Handoff[]> {
  const ids = await store.held(namespace, agent, worker, ...(isShared ? [request_id] : []));
  if (ids.length === 0) return [];
  return (await store.load(namespace, ids)).filter((handoff) => handoff !== null);
}
