/** `@handfast/client/testing/internal`: what the kit is made of, for siblings of this package. Not for users: it may change. */

export { ClockedRelay, type ClockedRelayOptions } from "./clocked-relay.ts";
export { VirtualTime } from "./virtual-time.ts";
