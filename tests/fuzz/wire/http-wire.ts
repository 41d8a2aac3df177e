/** A connection for HTTP: raw bytes out, answers in. */

import { HttpReader, type HttpReply } from "./http-reader.ts";
import { RawSocket } from "./raw-socket.ts";

/** Exports of the log and artifacts are not read beyond this: who asked for them goes away in the middle. */
const most_reply_bytes = 400_000;

export type Answer =
  | { readonly kind: "reply"; readonly reply: HttpReply }
  | { readonly kind: "closed" }
  | { readonly kind: "late" }
  | { readonly kind: "garbled"; readonly why: string };

export class HttpWire {
  readonly #reader = new HttpReader(most_reply_bytes);
  #socket: RawSocket | null = null;
  #look: () => void = () => {};

  private constructor() {}

  static async open(port: number, from: string | null = null): Promise<HttpWire> {
    const wire = new HttpWire();
    const socket = await RawSocket.open(port, from, (chunk) => {
      wire.#reader.push(chunk);
      wire.#look();
    });
    wire.#socket = socket;
    void socket.closed.then(() => wire.#look());
    return wire;
  }

  /** Whether another request can go this way. */
  get isIdle(): boolean {
    return this.#socket !== null && !this.#socket.isClosed && this.#reader.isEmpty;
  }

  write(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  end(): void {
    this.#socket?.end();
  }

  drop(): void {
    this.#socket?.drop();
  }

  /** What comes back, at the latest when the time is over. */
  answer(method: string, within_ms: number): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#reader.method = method;
    const timer = setTimeout(() => settle({ kind: "late" }), within_ms);
    const settle = (answer: Answer) => {
      clearTimeout(timer);
      this.#look = () => {};
      resolve(answer);
    };
    this.#look = () => {
      try {
        const is_over = this.#socket === null || this.#socket.isClosed;
        const reply = this.#reader.next() ?? (is_over ? this.#reader.last() : null);
        if (reply !== null) settle({ kind: "reply", reply });
        else if (is_over) settle({ kind: "closed" });
      } catch (error) {
        settle({ kind: "garbled", why: String(error) });
      }
    };
    this.#look();
    return promise;
  }
}
