/** A JSON body: its size is bounded before and while it is read, its time too, and then it is read strictly. */

import type { IncomingMessage } from "node:http";
import { parseStrictBytes } from "@handfast/protocol";
import { limits } from "../../limits.ts";
import { Problem } from "../../problem.ts";

export async function readJson(stream: IncomingMessage, max_bytes: number, body_ms: number): Promise<unknown> {
  const declared = Number(stream.headers["content-length"] ?? 0);
  if (declared > max_bytes) throw tooLarge(max_bytes);
  const bytes = await readBytes(stream, max_bytes, body_ms);
  if (bytes.length === 0) return {};
  const json = parseStrictBytes(bytes, { max_bytes, max_depth: limits.json_depth, max_keys: limits.json_keys });
  if (json.ok) return json.value;
  const { reason, path, offset } = json.fault;
  if (reason === "too_large") throw tooLarge(max_bytes);
  const where = path === "" ? `at character ${offset}` : `at ${JSON.stringify(path)} (character ${offset})`;
  throw new Problem(400, reason, `The body is not JSON that can be taken: ${reason.replaceAll("_", " ")} ${where}.`, {
    fields: [path],
  });
}

function tooLarge(max_bytes: number): Problem {
  return new Problem(413, "too_large", `The body is larger than ${max_bytes} bytes; larger payloads go as artifacts.`);
}

/** A caller that sends one byte now and then is not waited for. */
function readBytes(stream: IncomingMessage, max_bytes: number, body_ms: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const give_up = setTimeout(() => {
    stream.pause();
    reject(new Problem(408, "body_timeout", `The body did not arrive within ${body_ms} ms.`));
  }, body_ms);
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > max_bytes) {
      stream.pause();
      reject(tooLarge(max_bytes));
      return;
    }
    chunks.push(chunk);
  });
  stream.on("end", () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
  // The only error of a request is that its caller has gone, which is no mistake of the relay.
  const cut = () => reject(new Problem(400, "body_cut", "The connection was lost before the body was whole."));
  stream.on("error", cut);
  stream.on("close", () => {
    if (!stream.complete) cut();
  });
  return promise.finally(() => clearTimeout(give_up));
}
