/** Streamed output on the way: the view before the outcome, which alone is authoritative. */

import { hasEnded } from "@handfast/core";
import { wakeKey } from "@handfast/engine";
import { chunk_query, chunk_reply, chunk_request, chunk_view } from "@handfast/protocol/wire";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { holdingOf } from "./holding.ts";
import { json, operation, type StreamEvent } from "./operation.ts";
import { seen, seenAs } from "./parties.ts";
import { idParams } from "./read.ts";
import { refused } from "./refuse.ts";
import type { Relay } from "./relay.ts";
import { readUntil, Watch } from "./watch.ts";

export const writeChunk = operation(
  {
    name: "write_chunk",
    method: "POST",
    path: "/v1/handoffs/{id}/chunks",
    tag: "workers",
    access: "caller",
    summary: "Stream text while working. Repeating what was written changes nothing; a gap is refused.",
    params: idParams,
    body: chunk_request,
    replies: { 200: chunk_reply },
    problems: [403, 404, 409, 412],
  },
  async ({ relay, caller, params, body }) => {
    const { handoff, agent, fence } = await holdingOf(relay, caller, params.id, body);
    const written = await relay.engine.chunks.write(handoff, { agent, fence }, body.offset, body.text);
    if ("reason" in written) throw refused(written);
    relay.engine.wakeups.publish([wakeKey.handoff(caller.namespace, params.id)]);
    return json(written);
  },
);

export const readChunks = operation(
  {
    name: "read_chunks",
    method: "GET",
    path: "/v1/handoffs/{id}/chunks",
    tag: "handoffs",
    access: "caller",
    summary: "Read streamed text from an offset on; waits for more, if asked to, or streams it.",
    params: idParams,
    query: chunk_query,
    waits: true,
    streams: true,
    replies: { 200: chunk_view },
    problems: [404],
  },
  async ({ relay, caller, params, query, wait_ms, signal, request, room }) => {
    const offset = Math.max(query.offset ?? 0, Number(request.last_event_id ?? 0) || 0);
    if (request.wants_stream) {
      await seen(relay, caller, params.id);
      return { kind: "events", events: streamChunks(relay, caller, params.id, offset, signal) };
    }
    const keys = [wakeKey.handoff(caller.namespace, params.id)];
    const read = () => look(relay, caller, params.id, offset);
    const isReady = ({ view, ended }: Look) => view.text !== "" || ended;
    const { view } = await readUntil(relay.engine.wakeups, keys, wait_ms, signal, read, isReady);
    await room(view.text.length);
    return json(view);
  },
);

type Look = Awaited<ReturnType<typeof look>>;

async function look(relay: Relay, caller: Caller, id: string, offset: number) {
  const { handoff, as } = await seenAs(relay, caller, id);
  const streamed = await relay.engine.chunks.read(caller.namespace, id, offset);
  const { state } = handoff.status;
  // What another agent streams is not for whoever held it before.
  const chunks = as !== "party" && streamed !== null && streamed.fence > handoff.fence ? null : streamed;
  const view =
    chunks === null
      ? { fence: null, floor: 0, offset, text: "", next: offset, state }
      : { ...chunks, next: chunks.offset + chunks.text.length, state };
  return { view, ended: as === "former_holder" || hasEnded(handoff.status) };
}

/** The next attempt writes its own text: its fence tells, and it begins at 0. */
async function* streamChunks(
  relay: Relay,
  caller: Caller,
  id: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const watch = new Watch(relay.engine.wakeups, [wakeKey.handoff(caller.namespace, id)], signal);
  let offset = from;
  let fence: number | null = null;
  try {
    for (;;) {
      let { view, ended } = await look(relay, caller, id, offset);
      if (fence !== null && view.fence !== null && view.fence !== fence)
        ({ view, ended } = await look(relay, caller, id, 0));
      fence = view.fence ?? fence;
      if (view.text !== "") {
        offset = view.next;
        yield { event: "chunk", id: String(offset), data: { fence, offset: view.offset, text: view.text } };
      }
      if (ended) return yield { event: "end", data: { id, state: view.state } };
      await watch.next(limits.sse_keep_alive_ms);
      if (signal.aborted) return;
    }
  } finally {
    watch.close();
  }
}
