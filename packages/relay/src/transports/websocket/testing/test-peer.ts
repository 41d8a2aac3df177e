/** A client's end of a WebSocket, for tests: it says only what it is told to, and keeps every frame that comes. */

import type { LeaseView } from "@handfast/protocol/wire";
import { type ClientOptions, WebSocket } from "ws";
import type { TestRelay } from "../../../testing/test-relay.ts";

/** What is read of frames, of one kind or another. */
interface Frame {
  readonly hello?: { readonly agent: string; readonly role: string; readonly limits: object };
  readonly problem?: Problem;
  readonly pong?: number;
  readonly replies?: readonly Reply[];
  readonly events?: readonly StreamEvent[];
  readonly over?: readonly Notice[];
}

interface Problem {
  readonly reason: string;
  readonly fields?: readonly string[];
}

export interface Reply {
  readonly n: number;
  readonly status: number;
  readonly problem?: Problem;
  readonly text?: string;
  readonly body: ReplyBody;
}

/** And of replies, of one operation or another. */
interface ReplyBody {
  readonly id: string;
  readonly leases: readonly LeaseView[];
  readonly handoffs: readonly unknown[];
  readonly receipts: readonly { readonly id: string; readonly signed: Signed }[];
}

export interface Signed {
  readonly document: string;
  readonly proof: { readonly size: number };
}

interface StreamEvent {
  readonly n: number;
  readonly event: string;
  readonly id: string;
  readonly data: { readonly handoff: string };
}

interface Notice {
  readonly id: string;
  readonly detail: string;
}

export interface Ended {
  readonly code: number;
  readonly reason: string;
}

export class TestPeer {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  /** How the connection ended, once it has. */
  readonly ended: Promise<Ended>;
  readonly #waiting = new Set<() => void>();
  #n = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      this.frames.push(JSON.parse(String(data)));
      for (const look of [...this.#waiting]) look();
    });
    socket.on("error", () => {});
    this.ended = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        resolve({ code, reason: String(reason) });
        for (const look of [...this.#waiting]) look();
      });
    });
  }

  /** A connection that has said nothing yet. */
  static async open(relay: Pick<TestRelay, "url">, options: ClientOptions = {}): Promise<TestPeer> {
    const peer = new TestPeer(new WebSocket(connectUrl(relay), "handfast.v1", options));
    await new Promise((resolve, reject) => peer.socket.once("open", resolve).once("error", reject));
    return peer;
  }

  /** One that said who it is, and was believed. */
  static async greet(
    relay: Pick<TestRelay, "url">,
    credential: string,
    options: ClientOptions = {},
  ): Promise<TestPeer> {
    const peer = await TestPeer.open(relay, options);
    peer.send({ hello: { credential } });
    await peer.frame(({ hello }) => hello !== undefined);
    return peer;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" || frame instanceof Uint8Array ? frame : JSON.stringify(frame));
  }

  /** The first frame, from the beginning, that is wanted; waits for it. */
  frame(isWanted: (frame: Frame) => boolean): Promise<Frame> {
    return this.#until(() => this.frames.find(isWanted));
  }

  reply(n: number): Promise<Reply> {
    return this.#until(() => this.#reply(n));
  }

  /** An event of a stream; a reply instead of it ends the wait. */
  async event(n: number, event: string): Promise<StreamEvent> {
    const found = await this.#until(
      () => this.#all("events").find((each) => each.n === n && each.event === event) ?? this.#reply(n),
    );
    if (!("event" in found)) throw new Error(`the stream ended before ${event}: ${JSON.stringify(found)}`);
    return found;
  }

  over(id: string): Promise<Notice> {
    return this.#until(() => this.#all("over").find((notice) => notice.id === id));
  }

  #reply(n: number): Reply | undefined {
    return this.#all("replies").find((reply) => reply.n === n);
  }

  #all<Kind extends "replies" | "events" | "over">(kind: Kind): readonly NonNullable<Frame[Kind]>[number][] {
    return this.frames.flatMap((frame): readonly NonNullable<Frame[Kind]>[number][] => frame[kind] ?? []);
  }

  get problems(): readonly Problem[] {
    return this.frames.flatMap((frame) => (frame.problem === undefined ? [] : [frame.problem]));
  }

  /** A number that no call of this peer has had. */
  next(): number {
    this.#n += 1;
    return this.#n;
  }

  async call(op: string, parts: object = {}): Promise<Reply> {
    const n = this.next();
    this.send({ calls: [{ n, op, ...parts }] });
    return this.reply(n);
  }

  /** Many calls in one frame. */
  async calls(
    calls: readonly { readonly op: string; readonly [part: string]: unknown }[],
    more: object = {},
  ): Promise<readonly Reply[]> {
    const numbered = calls.map((call) => ({ n: this.next(), ...call }));
    this.send({ calls: numbered, ...more });
    return Promise.all(numbered.map(({ n }) => this.reply(n)));
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.ended;
  }

  /** As a process that was killed. */
  async break(): Promise<void> {
    this.socket.terminate();
    await this.ended;
  }

  #until<Found>(find: () => Found | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find();
        const is_over = this.socket.readyState === WebSocket.CLOSED;
        if (found === undefined && !is_over) return;
        this.#waiting.delete(look);
        if (found === undefined) reject(new Error(`the connection ended before it came: ${this.#last()}`));
        else resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #last(): string {
    return JSON.stringify(this.frames.at(-1));
  }
}

export function connectUrl(relay: Pick<TestRelay, "url">): string {
  return `${relay.url.replace("http:", "ws:")}/v1/connect`;
}
