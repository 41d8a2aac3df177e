/** A TCP connection that says exactly the bytes it is given, and tells what came and how it ended. */

import { connect, type Socket } from "node:net";

export type Heard = (chunk: Buffer) => void;

const connect_within_ms = 20_000;

export class RawSocket {
  readonly #socket: Socket;
  /** Resolves when the connection is over, whoever ended it. */
  readonly closed: Promise<void>;
  #is_closed = false;

  private constructor(socket: Socket, heard: Heard) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#is_closed = true;
        resolve();
      });
    });
    socket.on("data", heard);
    // What broke it shows in `closed`; that it broke is often the very purpose.
    socket.on("error", () => {});
  }

  /** `from`: the address to come from; strangers are counted by it. */
  static open(port: number, from: string | null, heard: Heard): Promise<RawSocket> {
    const { promise, resolve, reject } = Promise.withResolvers<RawSocket>();
    const options = { host: "127.0.0.1", port, noDelay: true, ...(from === null ? {} : { localAddress: from }) };
    const socket = connect(options);
    const raw = new RawSocket(socket, heard);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no connection within ${connect_within_ms} ms`));
    }, connect_within_ms);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(raw);
    });
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    return promise;
  }

  get isClosed(): boolean {
    return this.#is_closed;
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Says that nothing more comes, and goes on listening. */
  end(): void {
    this.#socket.end();
  }

  /** As a process that was killed: no farewell, and no port kept waiting. */
  drop(): void {
    if (this.#socket.destroyed) return;
    this.#socket.resetAndDestroy();
  }
}
