/** What a session needs of the socket below it: the network's, or one in memory for tests in the relay's own process. */

export interface FrameSocket {
  /** A text frame. Nothing is thrown on a socket that is closing: the frame is dropped. */
  send(text: string): void;
  /** Bytes given to send that have not left yet. */
  readonly bufferedAmount: number;
  /** No frames are handed over until resume. */
  pause(): void;
  resume(): void;
  ping(): void;
  /** In order, with a code and a short reason. */
  close(code: number, reason: string): void;
  /** At once. */
  terminate(): void;
  listen(listener: FrameListener): void;
}

export interface FrameListener {
  /** One whole frame; binary ones are a fault of the peer, which the session names. */
  frame(data: Uint8Array, isBinary: boolean): void;
  pong(): void;
  /** Everything given to send has left. Until this is said, what was sent counts as lost if the socket closes. */
  drained(): void;
  closed(code: number): void;
}
