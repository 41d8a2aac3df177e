/** The bytes of an upload as they come: it may be long, but neither silent nor a trickle, nor outlive the relay. */

import type { IncomingMessage } from "node:http";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";

type UploadLimits = Pick<RelayLimits, "body_timeout_ms" | "upload_window_ms" | "upload_bytes_per_second">;

export async function* upload(
  raw: IncomingMessage,
  { body_timeout_ms, upload_window_ms, upload_bytes_per_second }: UploadLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  // The connection stays until the answer is written, which then closes it.
  const pieces = raw.iterator({ destroyOnReturn: false });
  const least_bytes = (upload_bytes_per_second * upload_window_ms) / 1_000;
  let waited_ms = 0;
  let bytes = 0;
  for (;;) {
    const began = performance.now();
    const next: IteratorResult<Uint8Array> = await arrival(pieces.next(), body_timeout_ms, signal);
    if (next.done) return;
    // Only the time that the relay waited counts: a slow disk is not the caller's doing.
    waited_ms += performance.now() - began;
    bytes += next.value.length;
    yield next.value;
    if (waited_ms < upload_window_ms) continue;
    if (bytes < least_bytes) {
      const detail = `The upload brought ${bytes} bytes in ${upload_window_ms} ms; at least ${least_bytes} must come.`;
      throw new Problem(408, "upload_too_slow", detail);
    }
    waited_ms = 0;
    bytes = 0;
  }
}

function arrival<T>(piece: Promise<T>, pause_ms: number, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const cut = () => reject(new Problem(400, "body_cut", "The connection was lost before the body was whole."));
  const late = () => reject(new Problem(408, "body_timeout", `No byte came for ${pause_ms} ms.`));
  const stop = () => reject(new Problem(429, "stopping", "The relay is stopping; put it up again in a moment."));
  const timer = setTimeout(late, pause_ms);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  piece.then(resolve, cut);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });
}
