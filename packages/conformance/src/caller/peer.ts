/** A client's end of a WebSocket: it says only what it is told to, and keeps every frame that comes. */

import { Broken, parseJson, shown, Unreached } from "../broken.ts";
import { answer_within_ms, type CallParts } from "./link.ts";

export interface Ended {
  readonly code: number;
  readonly reason: string;
}

type Members = Readonly<Record<string, unknown>>;

/** One of the items that frames of the relay bring: a reply, an event, a notice. */
export interface Item extends Members {
  readonly n?: number;
  readonly status?: number;
  readonly body?: unknown;
  readonly problem?: unknown;
  readonly event?: string;
  readonly id?: string;
}

export interface PeerCall extends Omit<CallParts, "bytes" | "signal"> {
  readonly op: string;
  readonly stream?: boolean;
  readonly base64?: string;
}

const open_within_ms = 10_000;

export class Peer {
  readonly socket: WebSocket;
  readonly frames: Members[] = [];
  /** How the connection ended, once it has. */
  readonly ended: Promise<Ended>;
  #end: Ended | null = null;
  /** What came was no frame: whoever waits for one is told. */
  #fault: unknown = null;
  readonly #looks = new Set<() => void>();
  #n = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      try {
        this.frames.push(readFrame(data));
      } catch (error) {
        this.#fault = error;
      }
      this.#look();
    });
    const { promise, resolve } = Promise.withResolvers<Ended>();
    this.ended = promise;
    socket.addEventListener("close", ({ code, reason }) => {
      this.#end = { code, reason };
      resolve(this.#end);
      this.#look();
    });
  }

  /** A connection that has said nothing yet. */
  static async open(url: string): Promise<Peer> {
    const peer = new Peer(new WebSocket(url, "handfast.v1"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    peer.socket.addEventListener("open", () => resolve());
    peer.socket.addEventListener("error", () => reject(new Unreached(`no WebSocket at ${url}`)));
    const patience = setTimeout(() => reject(new Unreached(`no WebSocket at ${url} in time`)), open_within_ms);
    try {
      await promise;
      return peer;
    } catch (error) {
      peer.close();
      throw error;
    } finally {
      clearTimeout(patience);
    }
  }

  /** One that said who it is, and was believed. */
  static async greet(url: string, credential: string): Promise<Peer> {
    const peer = await Peer.open(url);
    try {
      peer.send({ hello: { credential } });
      await peer.frame(({ hello }) => hello !== undefined, "the relay's hello");
      return peer;
    } catch (error) {
      peer.close();
      throw error;
    }
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  /** Text and bytes go as they are, everything else as JSON. */
  send(frame: unknown): void {
    if (this.isOver) throw new Unreached(`the connection is over (${this.#end?.code})`);
    const isRaw = typeof frame === "string" || frame instanceof ArrayBuffer;
    this.socket.send(isRaw ? frame : JSON.stringify(frame));
  }

  /** The first frame, from the beginning, that is wanted. */
  frame(isWanted: (frame: Members) => boolean, what: string, within_ms = answer_within_ms): Promise<Members> {
    return this.#until(() => this.frames.find(isWanted), what, within_ms);
  }

  reply(n: number, within_ms = answer_within_ms): Promise<Item> {
    return this.#until(() => this.items("replies").find((reply) => reply.n === n), `a reply to call ${n}`, within_ms);
  }

  /** What the relay tells of a lease that is over. */
  over(id: string, within_ms = answer_within_ms): Promise<Item> {
    return this.#until(
      () => this.items("over").find((item) => item.id === id),
      `a notice that ${id} is over`,
      within_ms,
    );
  }

  /** The next event of a stream after the first `seen`; a reply that ended it counts as one. */
  event(n: number, seen: number, within_ms: number): Promise<Item> {
    const find = () => {
      const events = this.items("events").filter((item) => item.n === n);
      return events[seen] ?? this.items("replies").find((reply) => reply.n === n);
    };
    return this.#until(find, `an event of stream ${n}`, within_ms);
  }

  items(kind: "replies" | "events" | "over"): readonly Item[] {
    return this.frames.flatMap((frame) => {
      const items = frame[kind];
      return Array.isArray(items) ? items : [];
    });
  }

  /** A number that no call of this peer has had. */
  next(): number {
    this.#n += 1;
    return this.#n;
  }

  /** Many calls in one frame; their replies, in the order of the calls. */
  async calls(calls: readonly PeerCall[], more: Members = {}): Promise<Item[]> {
    const numbered = calls.map((call) => ({ n: this.next(), ...call }));
    this.send({ calls: numbered, ...more });
    return Promise.all(numbered.map(({ n, wait_ms = 0 }) => this.reply(n, wait_ms + answer_within_ms)));
  }

  close(): void {
    this.socket.close();
  }

  /** Waits until the relay has ended the connection. */
  async closedByRelay(within_ms = answer_within_ms): Promise<Ended> {
    await this.#until(() => this.#end ?? undefined, "the relay to close the connection", within_ms);
    return this.ended;
  }

  #look(): void {
    for (const look of [...this.#looks]) look();
  }

  #until<T>(find: () => T | undefined, what: string, within_ms: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const patience = setTimeout(() => reject(new Broken(`${what} within ${within_ms} ms`, this.#last())), within_ms);
    const look = () => {
      const found = find();
      if (found !== undefined) resolve(found);
      else if (this.#fault !== null) reject(this.#fault);
      else if (this.#end !== null) {
        reject(new Unreached(`the connection ended (${this.#end.code} ${this.#end.reason}) before ${what}`));
      }
    };
    this.#looks.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(patience);
      this.#looks.delete(look);
    });
  }

  #last(): string {
    return this.frames.length === 0 ? "no frame" : `as the last frame ${shown(this.frames.at(-1))}`;
  }
}

function readFrame(data: unknown): Members {
  const value = typeof data === "string" ? parseJson(data, "a frame") : null;
  if (typeof value === "object" && value !== null) return { ...value };
  throw new Broken("frames that are text with one JSON object", shown(data));
}
