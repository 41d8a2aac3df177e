/** A client's end of a WebSocket, for tests: it says only what it is told to, and keeps every frame that comes. */

import { type ClientOptions, WebSocket } from "ws";
import type { TestRelay } from "../../../testing/test-relay.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read frames as their readers do, without a type for each.
type Json = any;

export interface Ended {
  readonly code: number;
  readonly reason: string;
}

export class TestPeer {
  readonly socket: WebSocket;
  readonly frames: Json[] = [];
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
  async frame(isWanted: (frame: Json) => boolean): Promise<Json> {
    return this.#until(() => this.frames.find(isWanted));
  }

  async reply(n: number): Promise<Json> {
    return this.#until(() => this.#all("replies").find((reply) => reply.n === n));
  }

  /** An event of a stream, or the problem that ended it. */
  async event(n: number, event: string): Promise<Json> {
    return this.#until(
      () =>
        this.#all("events").find((each) => each.n === n && each.event === event) ??
        this.#all("replies").find((reply) => reply.n === n),
    );
  }

  over(id: string): Promise<Json> {
    return this.#until(() => this.#all("over").find((notice) => notice.id === id));
  }

  #all(kind: string): readonly Json[] {
    return this.frames.flatMap((frame) => frame[kind] ?? []);
  }

  get problems(): readonly Json[] {
    return this.frames.flatMap((frame) => (frame.problem === undefined ? [] : [frame.problem]));
  }

  /** A number that no call of this peer has had. */
  next(): number {
    this.#n += 1;
    return this.#n;
  }

  async call(op: string, parts: object = {}): Promise<Json> {
    const n = this.next();
    this.send({ calls: [{ n, op, ...parts }] });
    return this.reply(n);
  }

  /** Many calls in one frame. */
  async calls(
    calls: readonly { readonly op: string; readonly [part: string]: unknown }[],
    more: object = {},
  ): Promise<Json[]> {
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

  #until(find: () => Json): Promise<Json> {
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
