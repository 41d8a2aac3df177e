/**
 * One connection in memory: on one side what a client's WebSocket needs, on the other the relay's FrameSocket. Frames
 * arrive in order; a close comes after them, a break at once.
 */

import type { FrameListener, FrameSocket } from "@handfast/relay/in-process";
import type { NetworkEnd, Torn } from "./network.ts";

/** How a connection ends that nobody closed in order. */
const broken = 1006;

/** The client's side, as it is told. */
export interface ClientSide {
  opened(): void;
  message(text: string): void;
  closed(code: number, reason: string, wasClean: boolean): void;
}

const encoder = new TextEncoder();

export class Connection implements Torn {
  readonly #end: NetworkEnd;
  readonly #client: ClientSide;
  readonly #leave: () => void;
  #listener: FrameListener | null = null;
  #paused = false;
  readonly #unread: { readonly data: Uint8Array; readonly isBinary: boolean }[] = [];
  #to_client_bytes = 0;
  #to_relay_bytes = 0;
  #client_knows = false;
  #relay_knows = false;

  /** `accept` is the relay, if it is there: false: nobody listens. */
  constructor(end: NetworkEnd, client: ClientSide, accept: (socket: FrameSocket) => boolean) {
    this.#end = end;
    this.#client = client;
    this.#leave = end.add(this);
    if (end.isCut) this.tear(false);
    else end.carry("to_relay", () => this.#open(accept));
  }

  #open(accept: (socket: FrameSocket) => boolean): void {
    if (this.#relay_knows) return;
    this.#end.carry("to_client", () => {
      if (!this.#client_knows) this.#client.opened();
    });
    if (!accept(this.#frameSocket())) this.tear(false);
  }

  get unsentBytes(): number {
    return this.#to_relay_bytes;
  }

  send(data: string | Uint8Array): void {
    const isBinary = typeof data !== "string";
    const frame = { data: isBinary ? data : encoder.encode(data), isBinary };
    this.#to_relay_bytes += frame.data.length;
    this.#end.carry("to_relay", () => {
      this.#unread.push(frame);
      this.#read();
    });
  }

  close(code: number, reason: string): void {
    // A close that gets no answer ends the client's side all the same.
    if (this.#end.isCut) return this.tear(false);
    this.#end.carry("to_relay", () => {
      this.#tellRelay(code);
      this.#end.carry("to_client", () => this.#tellClient(code, reason, true));
    });
  }

  /** Ends the client's side without a word to the relay, as a closing socket does when nobody answers. */
  giveUp(): void {
    this.#end.notice(() => this.#tellClient(broken, "", false));
  }

  tear(client_is_gone: boolean): void {
    if (client_is_gone) this.#client_knows = true;
    this.#end.notice(() => {
      this.#tellRelay(broken);
      this.#tellClient(broken, "", false);
    });
  }

  #read(): void {
    while (!this.#paused && this.#unread.length > 0) {
      const frame = this.#unread.shift();
      if (frame === undefined || this.#relay_knows) return;
      this.#to_relay_bytes -= frame.data.length;
      this.#listener?.frame(frame.data, frame.isBinary);
    }
  }

  #tellClient(code: number, reason: string, wasClean: boolean): void {
    if (this.#client_knows) return;
    this.#client_knows = true;
    this.#leave();
    this.#client.closed(code, reason, wasClean);
  }

  #tellRelay(code: number): void {
    if (this.#relay_knows) return;
    this.#relay_knows = true;
    this.#leave();
    this.#listener?.closed(code);
  }

  #frameSocket(): FrameSocket {
    const unsent = () => this.#to_client_bytes;
    return {
      send: (text) => this.#sendToClient(text),
      get bufferedAmount() {
        return unsent();
      },
      pause: () => {
        this.#paused = true;
      },
      resume: () => {
        this.#paused = false;
        this.#end.notice(() => this.#read());
      },
      ping: () => this.#end.carry("to_client", () => this.#pong()),
      close: (code, reason) =>
        this.#end.carry("to_client", () => {
          this.#tellClient(code, reason, true);
          this.#end.carry("to_relay", () => this.#tellRelay(code));
        }),
      terminate: () => this.tear(false),
      listen: (listener) => {
        this.#listener = listener;
      },
    };
  }

  #sendToClient(text: string): void {
    if (this.#relay_knows) return;
    this.#to_client_bytes += text.length;
    this.#end.carry("to_client", () => {
      this.#to_client_bytes -= text.length;
      if (!this.#client_knows) this.#client.message(text);
      if (this.#to_client_bytes === 0 && !this.#relay_knows) this.#listener?.drained();
    });
  }

  /** A client's platform answers by itself, unless its process is gone. */
  #pong(): void {
    if (this.#client_knows) return;
    this.#end.carry("to_relay", () => {
      if (!this.#relay_knows) this.#listener?.pong();
    });
  }
}
