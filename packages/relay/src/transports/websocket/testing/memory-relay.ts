/** A relay on a virtual clock with sockets in memory, for tests of time and of peers that read when they please. */

import { openSqliteStore } from "@handfast/store-sqlite";
import { VirtualSurroundings } from "../../../../../engine/src/testing/virtual-surroundings.ts";
import { type AssembledRelay, assembleRelay } from "../../../assemble.ts";
import { makeRelayKey } from "../../../identity/relay-key.ts";
import { inProcessConfiguration } from "../../../in-process/configuration.ts";
import { memoryArtifacts } from "../../../in-process/memory-artifacts.ts";
import type { RelayLimits } from "../../../limits.ts";
import type { FrameListener, FrameSocket } from "../frame-socket.ts";

/** What is read of frames, of one kind or another. */
interface Frame {
  readonly hello?: { readonly expires_in_ms: number };
  readonly problem?: { readonly reason: string };
  readonly replies?: readonly Reply[];
  readonly events?: readonly { readonly data: { readonly text: string } }[];
}

/** And of replies, of one operation or another. */
interface Reply {
  readonly n: number;
  readonly status: number;
  readonly body: {
    readonly token: string;
    readonly id: string;
    readonly state: string;
    readonly leases: readonly { readonly id: string; readonly fence: number }[];
  };
}

const operator_token = "operator-token-for-tests-only";

export class MemoryRelay {
  readonly time: VirtualSurroundings;
  readonly assembled: AssembledRelay;
  readonly operator: MemorySocket;
  readonly #close: () => Promise<void>;

  private constructor(time: VirtualSurroundings, assembled: AssembledRelay, close: () => Promise<void>) {
    this.time = time;
    this.assembled = assembled;
    this.operator = this.connect();
    this.#close = close;
  }

  static async start(limits: Partial<RelayLimits> = {}): Promise<MemoryRelay> {
    const time = new VirtualSurroundings(1_800_000_000_000);
    const store = await openSqliteStore({ memory: true });
    const assembled = await assembleRelay({
      store,
      surroundings: time,
      configuration: inProcessConfiguration("http://relay.test", operator_token),
      key: makeRelayKey(),
      artifacts: memoryArtifacts(() => time.now()),
      limits,
      process_metrics: false,
    });
    const relay = new MemoryRelay(time, assembled, () => store.close());
    relay.operator.say({ hello: { credential: operator_token } });
    await time.rest();
    return relay;
  }

  connect(): MemorySocket {
    const socket = new MemorySocket();
    this.assembled.sessions.accept(socket);
    return socket;
  }

  async token(agent: string, more: object = {}): Promise<string> {
    const n = this.operator.sent.length + 1;
    const body = { agent, capabilities: [{ name: "work" }], ...more };
    this.operator.say({ calls: [{ n, op: "create_token", body }] });
    await this.time.rest();
    return this.operator.answer(n).token;
  }

  /** A peer whose hello was answered. */
  async greet(agent: string, more: object = {}): Promise<MemorySocket> {
    const socket = this.connect();
    socket.say({ hello: { credential: await this.token(agent, more) } });
    await this.time.rest();
    return socket;
  }

  async stop(): Promise<void> {
    await this.assembled.stop();
    await this.#close();
  }
}

/** One that reads as told: while it `holds`, nothing that is sent leaves. */
export class MemorySocket implements FrameSocket {
  readonly sent: Frame[] = [];
  bufferedAmount = 0;
  isPaused = false;
  pings = 0;
  answersPings = true;
  holds = false;
  ended: { readonly code: number; readonly reason: string } | null = null;
  #listener: FrameListener | null = null;

  say(frame: unknown): void {
    this.#listener?.frame(Buffer.from(JSON.stringify(frame)), false);
  }

  reply(n: number): Reply | undefined {
    return this.sent.flatMap(({ replies }) => replies ?? []).find((reply) => reply.n === n);
  }

  /** What the reply says, which must be there. */
  answer(n: number): Reply["body"] {
    const reply = this.reply(n);
    if (reply === undefined) throw new Error(`call ${n} was not answered`);
    return reply.body;
  }

  send(text: string): void {
    if (this.ended !== null) return;
    this.sent.push(JSON.parse(text));
    this.bufferedAmount += text.length;
    if (!this.holds) queueMicrotask(() => this.release());
  }

  /** Takes everything that waits for it. */
  release(): void {
    this.bufferedAmount = 0;
    if (this.ended === null) this.#listener?.drained();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  ping(): void {
    this.pings += 1;
    if (this.answersPings) this.#listener?.pong();
  }

  close(code: number, reason: string): void {
    this.break(code, reason);
  }

  terminate(): void {
    this.break();
  }

  /** As the network does. */
  break(code = 1006, reason = ""): void {
    if (this.ended !== null) return;
    this.ended = { code, reason };
    queueMicrotask(() => this.#listener?.closed(code));
  }

  listen(listener: FrameListener): void {
    this.#listener = listener;
  }
}
