/** A relay in the caller's own process, for tests. */

export type { FrameListener, FrameSocket } from "../transports/websocket/frame-socket.ts";
export { InProcessRelay } from "./in-process-relay.ts";
