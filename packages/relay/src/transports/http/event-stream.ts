/**
 * Server-sent events. The source is pulled as fast as the reader reads, so nothing piles up here; a reader that takes
 * nothing for too long is told why and cut.
 */

import type { ServerResponse } from "node:http";
import type { StreamEvent } from "../../operations/operation.ts";

export interface StreamLimits {
  readonly keep_alive_ms: number;
  readonly drain_ms: number;
}

export type StreamEnd = "ended" | "left" | "cut" | "stopped";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies that gather would turn a stream into a page.
  "x-accel-buffering": "no",
};

/** What a reader waits before it comes back: a moment, or a little longer when the relay restarts. */
const retry_ms = 1_000;
const retry_after_stop_ms = 3_000;

export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamEvent>,
  { keep_alive_ms, drain_ms }: StreamLimits,
  isStopping: () => boolean,
): Promise<StreamEnd> {
  response.writeHead(200, headers);
  response.write(`retry: ${retry_ms}\n\n`);
  const keepAlive = setInterval(() => {
    if (response.writableLength === 0) response.write(": keep-alive\n\n");
  }, keep_alive_ms);
  try {
    for await (const event of events) {
      if (response.destroyed) return "left";
      if (!response.write(formatEvent(event)) && !(await drained(response, drain_ms))) {
        return response.destroyed ? "left" : cut(response);
      }
    }
    if (response.destroyed) return "left";
    if (isStopping()) response.write(`retry: ${retry_after_stop_ms}\n: the relay is stopping\n\n`);
    response.end();
    return isStopping() ? "stopped" : "ended";
  } finally {
    clearInterval(keepAlive);
  }
}

export function formatEvent({ event, id, data }: StreamEvent): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function drained(response: ServerResponse, drain_ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const yes = () => resolve(true);
  const no = () => resolve(false);
  const timer = setTimeout(no, drain_ms);
  response.once("drain", yes);
  response.once("close", no);
  return promise.finally(() => {
    clearTimeout(timer);
    response.off("drain", yes);
    response.off("close", no);
  });
}

/** The reason stands last in what the reader has not read yet; it gets a moment to come for it. */
function cut(response: ServerResponse): "cut" {
  response.end(
    formatEvent({ event: "cut", data: { reason: "slow_reader", detail: "Read faster, and go on from the last id." } }),
  );
  setTimeout(() => response.destroy(), 1_000).unref();
  return "cut";
}
