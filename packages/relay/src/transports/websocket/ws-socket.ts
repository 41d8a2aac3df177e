/** The network's socket, as a session sees it. */

import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { FrameListener, FrameSocket } from "./frame-socket.ts";

export class WsSocket implements FrameSocket {
  readonly #socket: WebSocket;
  #listener: FrameListener | null = null;
  readonly #sent = (error?: Error | null): void => {
    if (!error && this.#socket.bufferedAmount === 0) this.#listener?.drained();
  };

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text, this.#sent);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  listen(listener: FrameListener): void {
    this.#listener = listener;
    // With nodebuffer, what is given over is one buffer whatever the frame was made of.
    this.#socket.on("message", (data, isBinary) => listener.frame(data as Buffer, isBinary));
    this.#socket.on("ping", () => listener.pong());
    this.#socket.on("pong", () => listener.pong());
    this.#socket.on("close", (code) => listener.closed(code));
    // A frame that is no frame, or too large: the socket closes with its own code, which is all there is to say.
    this.#socket.on("error", () => {});
  }
}

/** What comes from a stranger is read only up to a bound; `isKnown` is asked whenever there is more. */
export function boundStranger(raw: Socket, most_bytes: number, isKnown: () => boolean): void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    if (isKnown()) {
      raw.off("data", count);
      return;
    }
    bytes += chunk.length;
    if (bytes > most_bytes) raw.destroy();
  };
  raw.on("data", count);
}
