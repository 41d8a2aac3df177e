/** A reply that is not JSON, as a member of a frame: text as text, anything else in base64, and neither without a bound. */

import type { Reply } from "../../operations/operation.ts";
import { Problem } from "../../problem.ts";

export async function replyBytes(
  { headers, bytes }: Extract<Reply, { kind: "bytes" }>,
  most_bytes: number,
): Promise<string> {
  const type = headers["content-type"] ?? "";
  const is_text = type.startsWith("text/") || type === "application/jsonl";
  // Four characters for three bytes.
  const whole = await collect(bytes, is_text ? most_bytes : Math.floor((most_bytes / 4) * 3), most_bytes);
  if (is_text) return `"text":${JSON.stringify(whole.toString("utf8"))}`;
  const media_type = headers["handfast-media-type"] ?? type;
  return `"base64":"${whole.toString("base64")}","content_type":${JSON.stringify(media_type)}`;
}

async function collect(bytes: AsyncIterable<Uint8Array>, most: number, frame_bytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > most) {
      const detail = `The reply does not fit into a frame of ${frame_bytes} bytes; make this call over HTTP.`;
      throw new Problem(413, "use_http", detail);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
