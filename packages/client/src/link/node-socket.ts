/**
 * Node's own WebSocket, made to keep the process alive only while somebody waits. It does not show the socket below it,
 * but Node tells of every request that it makes and over which socket it goes; the asynchronous context says whose it is.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { HeldSocket, OpenSocket, WebSocketConstructor } from "./web-socket.ts";

class Holder {
  #socket: Socket | null = null;
  #is_held = true;

  sentOver(socket: Socket): void {
    this.#socket = socket;
    if (!this.#is_held) socket.unref();
  }

  /** Said with every call and every answer, so most of the time nothing new. */
  hold(yes: boolean): void {
    if (yes === this.#is_held) return;
    this.#is_held = yes;
    if (yes) this.#socket?.ref();
    else this.#socket?.unref();
  }

  drop(): void {
    this.#socket?.destroy();
  }
}

/** Only its first request is the WebSocket's own: what its listeners call over HTTP runs in the same context. */
interface Opening {
  holder: Holder | null;
}

const opening = new AsyncLocalStorage<Opening>();
const holders = new WeakMap<object, Holder>();
let is_listening = false;

/** These channels are part of undici's documented interface; a Node without them would keep its process until close(). */
function listen(): void {
  if (is_listening) return;
  is_listening = true;
  subscribe("undici:request:create", (message) => {
    const { request } = message as { readonly request: object };
    const current = opening.getStore();
    if (current?.holder == null) return;
    holders.set(request, current.holder);
    current.holder = null;
  });
  subscribe("undici:client:sendHeaders", (message) => {
    const { request, socket } = message as { readonly request: object; readonly socket: Socket };
    holders.get(request)?.sentOver(socket);
  });
}

export function nodeSocket(construct: WebSocketConstructor): OpenSocket {
  listen();
  return (url, protocols): HeldSocket => {
    const holder = new Holder();
    const socket = opening.run({ holder }, () => new construct(url, protocols));
    return { socket, hold: (yes) => holder.hold(yes), drop: () => holder.drop() };
  };
}
