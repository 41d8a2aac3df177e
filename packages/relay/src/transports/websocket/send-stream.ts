/** A stream's events, pulled from their source as fast as the peer takes them, so that nothing piles up. */

import type { StreamEvent } from "../../operations/operation.ts";
import type { Session } from "./session.ts";
import type { SessionCall } from "./session-call.ts";

export async function sendStream(
  session: Session,
  call: SessionCall,
  events: AsyncIterable<StreamEvent>,
  caller: string,
): Promise<void> {
  const release = session.openStream(caller);
  let last = "";
  try {
    for await (const { event, id, data } of events) {
      if (call.isAbandoned || session.isOver) return;
      const cursor = id === undefined ? "" : `"id":${JSON.stringify(id)},`;
      const text = `{"n":${call.n},"event":${JSON.stringify(event)},${cursor}"data":${JSON.stringify(data)}}`;
      session.outbox.add("events", text);
      last = event;
      await session.outbox.room();
    }
  } finally {
    release();
  }
  // Who abandoned it wants no word; when the relay stops, the close says it, and the reader goes on from its last id.
  if (last !== "end" && !call.signal.aborted) throw new Error(`the stream ${call.op} stopped before its end`);
}
