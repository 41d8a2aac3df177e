/** The standard WebSocket of a client whose relay is in the same process. */

import type { FrameSocket } from "@handfast/relay/in-process";
import { Connection } from "./connection.ts";
import type { NetworkEnd } from "./network.ts";

/** Node 22 has no CloseEvent of its own. */
class Closed extends Event {
  readonly code: number;
  readonly reason: string;
  readonly wasClean: boolean;

  constructor(code: number, reason: string, wasClean: boolean) {
    super("close");
    this.code = code;
    this.reason = reason;
    this.wasClean = wasClean;
  }
}

type Handler = ((event: never) => void) | null;

const connecting = 0;
const open = 1;
const closing = 2;
const closed = 3;

export class MemoryWebSocket extends EventTarget {
  static readonly CONNECTING = connecting;
  static readonly OPEN = open;
  static readonly CLOSING = closing;
  static readonly CLOSED = closed;
  readonly CONNECTING = connecting;
  readonly OPEN = open;
  readonly CLOSING = closing;
  readonly CLOSED = closed;

  readonly url: string;
  readonly extensions = "";
  binaryType: "blob" | "arraybuffer" = "blob";
  readonly #handlers = new Map<string, (event: Event) => void>();
  readonly #connection: Connection;
  readonly #protocol: string;
  readonly #end: NetworkEnd;
  #state = connecting;

  constructor(
    end: NetworkEnd,
    accept: (socket: FrameSocket) => boolean,
    url: string | URL,
    protocols: string | readonly string[] = [],
  ) {
    super();
    this.url = String(url);
    this.#end = end;
    this.#protocol = [protocols].flat()[0] ?? "";
    this.#connection = new Connection(
      end,
      {
        opened: () => this.#opened(),
        message: (data) => this.#message(data),
        closed: (code, reason, wasClean) => this.#closed(code, reason, wasClean),
      },
      accept,
    );
  }

  get readyState(): number {
    return this.#state;
  }

  get protocol(): string {
    return this.#state === connecting ? "" : this.#protocol;
  }

  get bufferedAmount(): number {
    return this.#connection.unsentBytes;
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    if (this.#state === connecting) throw new DOMException("The connection is not open yet.", "InvalidStateError");
    if (this.#state !== open) return;
    this.#connection.send(typeof data === "string" ? data : bytesOf(data));
  }

  close(code = 1000, reason = ""): void {
    if (this.#state >= closing) return;
    const was = this.#state;
    this.#state = closing;
    if (was === connecting || this.#end.isSilent) this.#connection.giveUp();
    else this.#connection.close(code, reason);
  }

  get onopen(): Handler {
    return this.#handlers.get("open") ?? null;
  }
  set onopen(handler: Handler) {
    this.#handle("open", handler);
  }
  get onmessage(): Handler {
    return this.#handlers.get("message") ?? null;
  }
  set onmessage(handler: Handler) {
    this.#handle("message", handler);
  }
  get onclose(): Handler {
    return this.#handlers.get("close") ?? null;
  }
  set onclose(handler: Handler) {
    this.#handle("close", handler);
  }
  get onerror(): Handler {
    return this.#handlers.get("error") ?? null;
  }
  set onerror(handler: Handler) {
    this.#handle("error", handler);
  }

  #handle(type: string, handler: Handler): void {
    const before = this.#handlers.get(type);
    if (before !== undefined) this.removeEventListener(type, before);
    this.#handlers.delete(type);
    if (handler === null) return;
    const listener = handler as (event: Event) => void;
    this.#handlers.set(type, listener);
    this.addEventListener(type, listener);
  }

  #opened(): void {
    if (this.#state !== connecting) return;
    this.#state = open;
    this.dispatchEvent(new Event("open"));
  }

  #message(data: string): void {
    if (this.#state <= open) this.dispatchEvent(new MessageEvent("message", { data }));
  }

  #closed(code: number, reason: string, wasClean: boolean): void {
    this.#state = closed;
    if (!wasClean) this.dispatchEvent(new Event("error"));
    this.dispatchEvent(new Closed(code, reason, wasClean));
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
    : new Uint8Array(data).slice();
}
