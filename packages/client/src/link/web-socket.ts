/** The standard WebSocket interface, as far as a link uses it, so that any that fits can be given. */

export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

/** Such as the global `WebSocket`. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** A socket, and whether it keeps the process alive. */
export interface HeldSocket {
  readonly socket: WebSocketLike;
  /** While somebody waits for an answer the process must stay; an idle connection must not keep it. */
  hold(yes: boolean): void;
  /** Ends it without waiting for the peer, where that is possible. */
  drop(): void;
}

export type OpenSocket = (url: string, protocols: string[]) => HeldSocket;

/** Whoever gave a constructor of their own sees to the process themselves; in a browser there is none. */
export function plainSocket(construct: WebSocketConstructor): OpenSocket {
  return (url, protocols) => {
    const socket: WebSocketLike & { terminate?: unknown } = new construct(url, protocols);
    const drop = () => {
      // Not of the standard, but many have it.
      if (typeof socket.terminate === "function") socket.terminate();
    };
    return { socket, hold: () => {}, drop };
  };
}
