/** Reads what a server answers, piece by piece, as HTTP/1.1. */

export interface HttpReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** False: the body was not read to its end, because it was cut or it is a stream. */
  readonly whole: boolean;
}

type Framing = { readonly kind: "length"; left: number } | { readonly kind: "chunked" } | { readonly kind: "close" };

interface Underway {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: Framing;
  readonly pieces: Buffer[];
  size: number;
}

const head_end = "\r\n\r\n";

export class HttpReader {
  readonly #most_bytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #underway: Underway | null = null;
  /** Of the request that is being answered: a HEAD is answered without a body. */
  method = "GET";

  /** A body larger than this is not waited for. */
  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes;
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
  }

  /** What came and was not taken. */
  get isEmpty(): boolean {
    return this.#rest.length === 0 && this.#underway === null;
  }

  /** What came behind the answers: after an upgrade it is no HTTP any more. */
  takeRest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  /** The next answer, if it is there; throws where it is not HTTP. */
  next(): HttpReply | null {
    this.#underway ??= this.#head();
    const underway = this.#underway;
    if (underway === null) return null;
    const is_whole = this.#body(underway);
    if (is_whole) return this.#done(underway, true);
    const is_stream = underway.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (underway.size > this.#most_bytes || (is_stream && underway.size > 0)) return this.#done(underway, false);
    return null;
  }

  /** The connection is over: what is there is the last answer. */
  last(): HttpReply | null {
    const underway = this.#underway;
    return underway === null ? null : this.#done(underway, underway.framing.kind === "close");
  }

  #done({ status, headers, pieces }: Underway, whole: boolean): HttpReply {
    this.#underway = null;
    return { status, headers, body: Buffer.concat(pieces), whole };
  }

  #head(): Underway | null {
    for (;;) {
      const end = this.#rest.indexOf(head_end);
      if (end < 0) return null;
      const [first = "", ...lines] = this.#rest.toString("latin1", 0, end).split("\r\n");
      this.#rest = this.#rest.subarray(end + head_end.length);
      const status = Number(/^HTTP\/1\.[01] ([1-5][0-9]{2})( |$)/.exec(first)?.[1]);
      if (Number.isNaN(status)) throw new Error(`not an answer in HTTP: ${JSON.stringify(first.slice(0, 100))}`);
      // "100 Continue" comes before the answer.
      if (status >= 102 || status === 101) return this.#begin(status, readHeaders(lines));
    }
  }

  #begin(status: number, headers: ReadonlyMap<string, string>): Underway {
    return { status, headers, framing: this.#framing(status, headers), pieces: [], size: 0 };
  }

  #framing(status: number, headers: ReadonlyMap<string, string>): Framing {
    if (this.method === "HEAD" || status === 101 || status === 204 || status === 304)
      return { kind: "length", left: 0 };
    if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return { kind: "chunked" };
    const length = headers.get("content-length");
    return length === undefined ? { kind: "close" } : { kind: "length", left: Number(length) };
  }

  /** Takes what belongs to the body; true: that was all of it. */
  #body(underway: Underway): boolean {
    const { framing } = underway;
    switch (framing.kind) {
      case "length":
        framing.left -= this.#take(underway, framing.left);
        return framing.left === 0;
      case "close":
        this.#take(underway, this.#rest.length);
        return false;
      case "chunked":
        return this.#chunks(underway);
      default:
        return framing satisfies never;
    }
  }

  #take(underway: Underway, most: number): number {
    const piece = this.#rest.subarray(0, most);
    if (piece.length === 0) return 0;
    underway.pieces.push(piece);
    underway.size += piece.length;
    this.#rest = this.#rest.subarray(piece.length);
    return piece.length;
  }

  #chunks(underway: Underway): boolean {
    for (;;) {
      const line_end = this.#rest.indexOf("\r\n");
      if (line_end < 0) return false;
      const size = Number.parseInt(this.#rest.toString("latin1", 0, line_end), 16);
      if (Number.isNaN(size)) throw new Error("a chunk has no size");
      if (this.#rest.length < line_end + 2 + size + 2) return false;
      this.#rest = this.#rest.subarray(line_end + 2);
      this.#take(underway, size);
      this.#rest = this.#rest.subarray(2);
      if (size === 0) return true;
    }
  }
}

function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}
