/** For tests: the messages of PostgreSQL's protocol in the bytes of one direction, as far as it takes to know one from the next. */

export interface Message {
  /** One letter; empty for what a connection begins with. */
  readonly type: string;
  readonly body: Buffer;
}

const header_bytes = 5;

export class Messages {
  #rest = Buffer.alloc(0);
  /** What a client says first has no letter. */
  #begins: boolean;

  constructor(begins: boolean) {
    this.#begins = begins;
  }

  /** Those that end in these bytes. */
  *in(data: Buffer): Generator<Message> {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const letter = this.#begins ? 0 : 1;
      if (this.#rest.length < header_bytes) return;
      const end = letter + this.#rest.readUInt32BE(letter);
      if (this.#rest.length < end) return;
      const type = this.#rest.toString("latin1", 0, letter);
      const body = this.#rest.subarray(letter + 4, end);
      this.#rest = this.#rest.subarray(end);
      this.#begins = false;
      yield { type, body };
    }
  }
}

/** The texts at the beginning of a message, each ended by a zero. */
export function textsIn({ body }: Message, count: number): readonly string[] {
  return body.toString("latin1").split("\0", count);
}
