/** The last bytes of a stream, and its lines as they come; neither grows with what is written. */

import { StringDecoder } from "node:string_decoder";

export class Tail {
  readonly #most: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(most_bytes: number) {
    this.#most = most_bytes;
  }

  add(bytes: Buffer): void {
    const joined = Buffer.concat([this.#kept, bytes.subarray(-this.#most)]);
    this.#kept = Buffer.from(joined.subarray(-this.#most));
  }

  /** A letter that was cut in half at the front is left out. */
  text(): string {
    return this.#kept
      .toString("utf8")
      .replace(/^\ufffd+/, "")
      .toWellFormed();
  }
}

export class Lines {
  readonly #decoder = new StringDecoder("utf8");
  readonly #most: number;
  readonly #onLine: (line: string) => void;
  #open = "";
  #isTooLong = false;

  /** Of longer lines only the beginning is given; `most_chars` at a time is kept. */
  constructor(most_chars: number, onLine: (line: string) => void) {
    this.#most = most_chars;
    this.#onLine = onLine;
  }

  add(bytes: Buffer): void {
    // A carriage return begins a line anew: so progress bars show their latest state.
    const parts = this.#decoder.write(bytes).split(/[\r\n]+/);
    parts.forEach((part, index) => {
      if (!this.#isTooLong) this.#open += part;
      if (this.#open.length > this.#most) {
        this.#open = this.#open.slice(0, this.#most);
        this.#isTooLong = true;
      }
      if (index < parts.length - 1) this.end();
    });
  }

  /** What was written without a line end counts as a line. */
  end(): void {
    const line = this.#open;
    this.#open = "";
    this.#isTooLong = false;
    if (line.trim() !== "") this.#onLine(line);
  }
}
