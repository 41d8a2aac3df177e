/** Where an agent's discovery endpoint is, where its manifest names none: at the relay it is registered with. */

import type { Relay } from "./relay.ts";

export function relayUrl({ audience }: Pick<Relay, "audience">): string {
  return (audience.all()[0] ?? "").replace(/\/+$/, "");
}

export function endpointOf(relay: Pick<Relay, "audience">, name: string): string {
  return `${relayUrl(relay)}/v1/discovery/${name}`;
}
