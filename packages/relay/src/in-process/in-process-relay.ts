/**
 * A whole relay inside somebody's own process: no files, no port unless one is asked for, and whatever clock it is given.
 * It is the same relay as any other, from the sockets' frames inwards. Made for tests: `@handfast/client/testing` and
 * `handfast test-relay` stand on it.
 */

import type { Store, Surroundings } from "@handfast/engine";
import type { EventView } from "@handfast/protocol/wire";
import { openSqliteStore } from "@handfast/store-sqlite";
import { type AssembledRelay, assembleRelay } from "../assemble.ts";
import { publicUrls } from "../configuration/public-urls.ts";
import { makeRelayKey } from "../identity/relay-key.ts";
import { limits, type RelayLimits } from "../limits.ts";
import { showEvent } from "../operations/events.ts";
import type { HttpServer } from "../transports/http/server.ts";
import type { FrameSocket } from "../transports/websocket/frame-socket.ts";
import { inProcessConfiguration } from "./configuration.ts";
import { fetchFrom } from "./fetch-call.ts";
import { memoryArtifacts } from "./memory-artifacts.ts";

export interface InProcessOptions {
  readonly surroundings: Surroundings;
  /**
   * Also on a free port of this machine, for clients in other processes. Default: on none. `onRequest` is told of what
   * arrives: Node's IncomingMessage and ServerResponse, by no name here, for whoever tests need not have Node's types.
   */
  readonly listen?: { readonly onRequest: (request: object, response: object) => void };
  /** In place of the relay's own. */
  readonly limits?: Partial<RelayLimits>;
}

/** What its clients know it by; nothing is ever looked up. */
const url = "http://relay.test";
const host = "127.0.0.1";
const operator_token = "operator-of-the-relay-in-this-process";

/**
 * Looking at the clock now and then finds what a real machine does to it, and gathering spares a real disk. Here both would
 * only make time pass in smaller steps, or make readers wait for time to pass.
 */
// Not a round number: a pulse at the very moment of a deadline would set that timer anew, a millisecond later.
const calm_engine = { pulse_ms: 61_357, stall_ms: Number.MAX_SAFE_INTEGER };
const calm_limits = { sse_gather_ms: 0, sse_progress_ms: 0, ws_sweep_ms: 5_000 };

export class InProcessRelay {
  readonly url = url;
  readonly operator_token = operator_token;
  readonly #surroundings: Surroundings;
  readonly #listen: InProcessOptions["listen"];
  readonly #limits: Partial<RelayLimits>;
  readonly #key = makeRelayKey();
  #store: Store;
  #artifacts: ReturnType<typeof memoryArtifacts>;
  #assembled: AssembledRelay | null = null;
  #server: HttpServer | null = null;
  /** 0: any that is free. Once it has one, it comes back there. */
  #port = 0;

  private constructor({ surroundings, listen, limits: own = {} }: InProcessOptions, store: Store) {
    this.#surroundings = surroundings;
    this.#listen = listen;
    this.#limits = { ...calm_limits, ...own };
    this.#store = store;
    this.#artifacts = memoryArtifacts(() => surroundings.now());
  }

  static async start(options: InProcessOptions): Promise<InProcessRelay> {
    const relay = new InProcessRelay(options, await openSqliteStore({ memory: true }));
    await relay.resume();
    return relay;
  }

  /** Where other processes reach it; null: nowhere. */
  get listens_on(): string | null {
    return this.#port === 0 ? null : `http://${host}:${this.#port}`;
  }

  get isRunning(): boolean {
    return this.#assembled !== null;
  }

  /** Something is on its way to the store. */
  isBusy(): boolean {
    return (this.#assembled?.relay.engine.stats().pending_jobs ?? 0) > 0;
  }

  /** False: it is not running, and nobody listens. */
  accept(socket: FrameSocket): boolean {
    this.#assembled?.sessions.accept(socket);
    return this.#assembled !== null;
  }

  /** Rejects like the standard one where the relay is not running. */
  async fetch(request: Request): Promise<Response> {
    if (this.#assembled === null) throw new TypeError("fetch failed: the relay is not running");
    return fetchFrom(this.#assembled.calls, request);
  }

  /** The whole log, or what concerns one handoff, oldest first. */
  async events(handoff?: string): Promise<readonly EventView[]> {
    const { namespace } = inProcessConfiguration(url, operator_token);
    const about = handoff === undefined ? {} : { handoff };
    const events: EventView[] = [];
    for (let after_pos = 0; ; ) {
      const page = await this.#store.events({ namespace, ...about, after_pos, limit: limits.page_size_most });
      events.push(...page.events.map(showEvent));
      if (page.events.length < limits.page_size_most) return events;
      after_pos = page.events.at(-1)?.pos ?? after_pos;
    }
  }

  /** Stops in order; what it knows stays. */
  async pause(): Promise<void> {
    const stopping = this.#assembled;
    const server = this.#server;
    this.#assembled = null;
    this.#server = null;
    await server?.stop();
    await stopping?.stop();
  }

  /** On what it knew. */
  async resume(): Promise<void> {
    if (this.#assembled !== null) return;
    const assembled = await assembleRelay({
      store: this.#store,
      surroundings: this.#surroundings,
      configuration: inProcessConfiguration(url, operator_token),
      key: this.#key,
      artifacts: this.#artifacts,
      engine_limits: calm_engine,
      limits: this.#limits,
      process_metrics: false,
    });
    if (this.#listen !== undefined) await this.#serve(assembled, this.#listen);
    this.#assembled = assembled;
  }

  /** Its clients may call it by either name; by the one that is the same in every run, so is what they sign. */
  async #serve(assembled: AssembledRelay, { onRequest }: Required<InProcessOptions>["listen"]): Promise<void> {
    const { HttpServer } = await import("../transports/http/server.ts");
    this.#server = new HttpServer({ ...assembled, onRequest });
    this.#port = await this.#server.listen(host, this.#port);
    const listening = publicUrls({ public_urls: [], host, loopback: true }, this.#port);
    assembled.relay.audience.set([url, ...listening], listening);
  }

  /** Forgets everything, as one whose disk was lost. To be called while it is paused. */
  async forget(): Promise<void> {
    await this.#store.close();
    this.#store = await openSqliteStore({ memory: true });
    this.#artifacts = memoryArtifacts(() => this.#surroundings.now());
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.#store.close();
  }
}
