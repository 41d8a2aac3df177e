/** A WebSocket spoken by hand: every byte is the fuzzer's own. */

import { HttpReader, type HttpReply } from "./http-reader.ts";
import { RawSocket } from "./raw-socket.ts";
import { decodeFrame, encodeFrame, opcode } from "./ws-frames.ts";

export type RelayFrame = Readonly<Record<string, unknown>>;

export interface Closing {
  /** Null: the connection ended without a close. */
  readonly code: number | null;
}

const upgraded_within_ms = 20_000;

export class WsWire {
  /** Everything the relay said that nobody has taken yet. */
  readonly frames: RelayFrame[] = [];
  /** Why what came was not a frame of the relay. */
  garbled: string | null = null;
  #socket: RawSocket | null = null;
  readonly #reader = new HttpReader(100_000);
  /** What came of a frame that is not whole yet. */
  #rest: Buffer[] = [];
  #size = 0;
  #needs = 2;
  #is_upgraded = false;
  #closing: Closing | null = null;
  #look: () => void = () => {};

  private constructor() {}

  /** Sends the request to upgrade, as it is; the answer tells whether it was taken. */
  static async open(
    port: number,
    request: Uint8Array,
    from: string | null = null,
  ): Promise<{ readonly wire: WsWire; readonly reply: HttpReply | null }> {
    const wire = new WsWire();
    wire.#socket = await RawSocket.open(port, from, (chunk) => wire.#heard(chunk));
    void wire.#socket.closed.then(() => {
      wire.#closing ??= { code: null };
      wire.#look();
    });
    wire.#socket.write(request);
    let reply: HttpReply | null = null;
    await wire.until(() => {
      if (wire.#is_upgraded) return true;
      reply = wire.#reader.next() ?? (wire.isOver ? wire.#reader.last() : null);
      if (reply?.status === 101) {
        wire.#is_upgraded = true;
        wire.#read(wire.#reader.takeRest());
      }
      return reply !== null;
    }, upgraded_within_ms);
    return { wire, reply };
  }

  get isOver(): boolean {
    return this.#closing !== null;
  }

  get closing(): Closing | null {
    return this.#closing;
  }

  #heard(chunk: Buffer): void {
    if (this.#is_upgraded) this.#read(chunk);
    else this.#reader.push(chunk);
    this.#look();
  }

  #read(chunk: Buffer): void {
    this.#rest.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needs) return;
    let bytes: Buffer = Buffer.concat(this.#rest);
    try {
      let next = decodeFrame(bytes);
      while ("frame" in next) {
        bytes = next.rest;
        this.#take(next.frame);
        next = decodeFrame(bytes);
      }
      this.#needs = next.needs;
    } catch (error) {
      this.garbled ??= String(error);
    }
    this.#rest = [bytes];
    this.#size = bytes.length;
  }

  #take({ opcode: kind, payload }: { readonly opcode: number; readonly payload: Buffer }): void {
    if (kind === opcode.text) this.frames.push(JSON.parse(payload.toString("utf8")));
    else if (kind === opcode.close) this.#closing ??= { code: payload.length >= 2 ? payload.readUInt16BE(0) : 1005 };
    else if (kind === opcode.ping) this.write(encodeFrame(payload, { opcode: opcode.pong }));
  }

  write(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  say(text: string): void {
    this.write(encodeFrame(Buffer.from(text), { opcode: opcode.text }));
  }

  /** True once it holds; false when the time is over. It is looked at whenever something comes, and at the end. */
  until(holds: () => boolean, within_ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => settle(false), within_ms);
    const settle = (held: boolean) => {
      clearTimeout(timer);
      this.#look = () => {};
      resolve(held);
    };
    this.#look = () => {
      if (holds()) settle(true);
      else if (this.isOver) settle(false);
    };
    this.#look();
    return promise;
  }

  end(): void {
    this.#socket?.end();
  }

  drop(): void {
    this.#socket?.drop();
  }

  /** When the connection is gone, not only closed. */
  get gone(): Promise<void> {
    return this.#socket?.closed ?? Promise.resolve();
  }
}
