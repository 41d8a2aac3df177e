/** A request over HTTP before it is bytes: each part can still be made wrong. */

export type Header = readonly [name: string, value: string];

type BodyFraming =
  | { readonly kind: "length"; readonly says?: string }
  | { readonly kind: "chunked"; readonly piece_bytes: number; readonly ends: "whole" | "cut" | "no_last" }
  /** Neither a length nor chunks are announced. */
  | { readonly kind: "silent" };

/** What the sender does after the bytes are out. */
type Ending = "listen" | "half_close" | "cut";

export interface HttpDraft {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly Header[];
  readonly body: Buffer | null;
  readonly framing: BodyFraming;
  readonly ending: Ending;
  /** Of the bytes, so many are sent; null: all. Never more than there are. */
  readonly sends: number | null;
  readonly line_end: string;
}

const chunks_most = 3_000;
const no_chunks: BodyFraming = { kind: "length" };

export function draft(method: string, target: string, headers: readonly Header[], body: Buffer | null): HttpDraft {
  return {
    method,
    target,
    version: "HTTP/1.1",
    headers,
    body,
    framing: no_chunks,
    ending: "listen",
    sends: null,
    line_end: "\r\n",
  };
}

/** Whether a reader must find exactly this one request in the bytes, so that the connection can go on afterwards. */
export function isWellFramed({ framing, ending, sends, line_end, version }: HttpDraft): boolean {
  const is_framed =
    framing.kind === "length" ? framing.says === undefined : framing.kind === "chunked" && framing.ends === "whole";
  return is_framed && ending === "listen" && sends === null && line_end === "\r\n" && version === "HTTP/1.1";
}

export function render(request: HttpDraft): Buffer {
  const { method, target, version, headers, line_end, sends } = request;
  const lines = [
    `${method} ${target} ${version}`,
    ...[...headers, ...framingHeaders(request)].map((each) => each.join(": ")),
  ];
  const head = Buffer.from(lines.join(line_end) + line_end + line_end, "latin1");
  const bytes = Buffer.concat([head, framedBody(request)]);
  return sends === null ? bytes : bytes.subarray(0, Math.min(sends, bytes.length));
}

function framingHeaders({ body, framing }: HttpDraft): readonly Header[] {
  switch (framing.kind) {
    case "length":
      return body === null && framing.says === undefined
        ? []
        : [["content-length", framing.says ?? `${body?.length ?? 0}`]];
    case "chunked":
      return [["transfer-encoding", "chunked"]];
    default:
      return [];
  }
}

function framedBody({ body, framing }: HttpDraft): Buffer {
  const bytes = body ?? Buffer.alloc(0);
  if (framing.kind !== "chunked") return bytes;
  const pieces: Buffer[] = [];
  // Of a large body not every byte needs a chunk of its own to show what comes of many.
  const size = Math.max(framing.piece_bytes, Math.ceil(bytes.length / chunks_most));
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  const whole = Buffer.concat(pieces);
  if (framing.ends === "cut") return whole.subarray(0, Math.floor(whole.length / 2));
  return framing.ends === "no_last" ? whole : Buffer.concat([whole, Buffer.from("0\r\n\r\n")]);
}
