/** What a test relay and everybody around it share: one clock, one network, one kind of chance. */

import { toBase64url } from "@handfast/protocol";
import type { FrameSocket, InProcessRelay } from "@handfast/relay/in-process";
import type { ConnectOptions } from "../connect.ts";
import { ClockedRelay } from "./clocked-relay.ts";
import { memoryFetch } from "./memory-fetch.ts";
import { MemoryWebSocket } from "./memory-web-socket.ts";
import { Network } from "./network.ts";
import { Peer } from "./peer.ts";
import { seededRandom } from "./seeded-random.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { VirtualTime } from "./virtual-time.ts";

const seed_bytes = 32;

export interface WorldOptions {
  readonly start_at: number;
  readonly seed: number;
}

export class World {
  readonly relay: InProcessRelay;
  readonly clock: VirtualClock;
  readonly time: VirtualTime;
  readonly #clocked: ClockedRelay;
  readonly #network: Network;
  readonly #seed: number;
  readonly #processes = new Map<string, number>();

  private constructor(clocked: ClockedRelay, seed: number) {
    const { relay, clock, stir, pool } = clocked;
    this.#clocked = clocked;
    this.relay = relay;
    this.clock = clock;
    this.#network = new Network(clock, stir, pool);
    this.time = new VirtualTime(clock, () => this.#network.settle());
    this.#seed = seed;
  }

  static async make(options: WorldOptions): Promise<World> {
    return new World(await ClockedRelay.start(options), options.seed);
  }

  /** A new process of the agent, which is named after it. */
  peer(agent: string, isFake: boolean): Peer {
    const number = (this.#processes.get(agent) ?? 0) + 1;
    this.#processes.set(agent, number);
    const name = `${agent}.${number}`;
    return new Peer(agent, name, isFake, this.#network, seededRandom(this.#seed, `the process ${name}`));
  }

  /** What makes a client live in this world, as this process of its agent. */
  connectOptions({ agent, end, surroundings }: Peer): ConnectOptions {
    const accept = (socket: FrameSocket) => this.relay.accept(socket);
    class WebSocket extends MemoryWebSocket {
      constructor(url: string | URL, protocols?: string | readonly string[]) {
        super(end, accept, url, protocols);
      }
    }
    return {
      url: this.relay.url,
      agent,
      key: this.#keyOf(agent),
      namespace: "default",
      transport: "websocket",
      WebSocket,
      fetch: memoryFetch(end, (request) => this.relay.fetch(request)),
      surroundings,
      heartbeats: "here",
    };
  }

  /** All processes of an agent have one key, and it is the same in every run. */
  #keyOf(agent: string): string {
    return toBase64url(seededRandom(this.#seed, `the key of ${agent}`).randomBytes(seed_bytes));
  }

  stop(): Promise<void> {
    return this.#clocked.stop();
  }
}
