/**
 * For tests: a network between a store and its server that can delay, cut, swallow everything, or lose a commit or its answer.
 *
 * What it swallows comes through once it is mended, as TCP sends again what was not confirmed; so does the end of a connection.
 */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { Messages, textsIn } from "./messages.ts";

export interface CuttingProxy {
  readonly port: number;
  /** The next commit is lost on the way there, or its answer on the way back; the connection breaks. Resolves when it has. */
  cutNextCommit(lost: "commit" | "answer"): Promise<void>;
  /** Every connection breaks, and none is to be had until it is mended. */
  cut(): void;
  /** From now on nothing comes through, and nobody is told. */
  swallow(): void;
  /** The same, once somebody has begun a transaction: the server has it open, and hears no more of it. */
  swallowNextTransaction(): Promise<void>;
  /** Everything takes so much longer, each way; 0: it does not. */
  delay(delay_ms: number): void;
  mend(): void;
  close(): Promise<void>;
}

interface Network {
  is_cut: boolean;
  is_swallowing: boolean;
  delay_ms: number;
}

/** One direction of one connection: bytes in their order, and at last its end. */
class Way {
  readonly #to: Socket;
  readonly #network: Network;
  readonly #on_the_way: { readonly data: Buffer | null; readonly at: number }[] = [];
  #next: NodeJS.Timeout | undefined;

  constructor(to: Socket, network: Network) {
    this.#to = to;
    this.#network = network;
  }

  /** Null: no more comes. */
  send(data: Buffer | null): void {
    this.#on_the_way.push({ data, at: performance.now() + this.#network.delay_ms });
    this.goOn();
  }

  goOn(): void {
    clearTimeout(this.#next);
    while (!this.#network.is_swallowing) {
      const [first] = this.#on_the_way;
      if (first === undefined) return;
      const wait_ms = first.at - performance.now();
      if (wait_ms > 0) {
        this.#next = setTimeout(() => this.goOn(), wait_ms);
        return;
      }
      this.#on_the_way.shift();
      if (first.data === null) this.#to.end();
      else if (this.#to.writable) this.#to.write(first.data);
    }
  }
}

/**
 * Who says what on one connection. A commit is a `COMMIT`, or a statement that writes the end of the log by itself; it is over once the
 * server is ready for whatever comes after it. What it says before, of statements sent along, would be too early to cut.
 */
class Talk {
  readonly #asked = new Messages(true);
  readonly #answered = new Messages(false);
  /** Statements that are a commit when they are executed, by name. */
  readonly #commits = new Set<string>();
  /** How often the client said that it wants an answer, and how often it got one. */
  #syncs = 0;
  #ready = 0;
  #commit_at = Number.POSITIVE_INFINITY;
  #is_commit = false;

  /** Whether a commit is among it. */
  asks(data: Buffer): boolean {
    let found = false;
    for (const message of this.#asked.in(data)) {
      const [first = "", second = ""] = textsIn(message, 2);
      if (message.type === "P" && second.includes("handfast.append(")) this.#commits.add(first);
      if (message.type === "Q" && first === "COMMIT") this.#is_commit = true;
      if (message.type === "B" && this.#commits.has(second)) this.#is_commit = true;
      if (message.type !== "S" && message.type !== "Q") continue;
      this.#syncs += 1;
      if (this.#is_commit) {
        found = true;
        this.#commit_at = this.#syncs;
      }
      this.#is_commit = false;
    }
    return found;
  }

  /** Whether the last commit is answered by now. */
  answers(data: Buffer): boolean {
    for (const { type } of this.#answered.in(data)) if (type === "Z") this.#ready += 1;
    return this.#ready - ready_first >= this.#commit_at;
  }
}

/** The server says that it is ready before anything was asked. */
const ready_first = 1;

export async function startProxy(server_port: number): Promise<CuttingProxy> {
  const network: Network = { is_cut: false, is_swallowing: false, delay_ms: 0 };
  const sockets = new Set<Socket>();
  const ways = new Set<Way>();
  /** Whoever wanted to connect while everything was swallowed. */
  const outside = new Set<() => void>();
  let lost: { readonly what: "commit" | "answer"; done(): void } | null = null;
  let swallowed: (() => void) | null = null;

  const keep = (socket: Socket, onClose: () => void) => {
    sockets.add(socket);
    // Either end may break at any time: that is what it is for.
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      onClose();
    });
  };

  const join = (near: Socket) => {
    if (near.destroyed) return;
    const far = connect(server_port, "127.0.0.1");
    const [there, back] = [new Way(far, network), new Way(near, network)];
    ways.add(there).add(back);
    near.on("close", () => there.send(null));
    keep(far, () => back.send(null));
    const talk = new Talk();
    // Called when the server has said that it committed: its answer is to be lost.
    let told: (() => void) | null = null;
    near.on("data", (data) => {
      const cut = talk.asks(data) ? lost : null;
      if (cut !== null) lost = null;
      if (cut?.what === "commit") {
        near.destroy();
        return cut.done();
      }
      if (cut?.what === "answer") told = cut.done;
      there.send(data);
      if (swallowed !== null && data.includes("BEGIN ISOLATION")) {
        network.is_swallowing = true;
        swallowed();
        swallowed = null;
      }
    });
    far.on("data", (data) => {
      const is_over = talk.answers(data);
      if (told === null) return back.send(data);
      if (!is_over) return;
      near.destroy();
      told();
    });
  };

  const proxy = createServer((near) => {
    if (network.is_cut) return void near.destroy();
    keep(near, () => {});
    if (network.is_swallowing) outside.add(() => join(near));
    else join(near);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    cutNextCommit: (what) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      lost = { what, done: resolve };
      return promise;
    },
    cut: () => {
      network.is_cut = true;
      for (const socket of sockets) socket.destroy();
    },
    swallow: () => {
      network.is_swallowing = true;
    },
    swallowNextTransaction: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      swallowed = resolve;
      return promise;
    },
    delay: (delay_ms) => {
      network.delay_ms = delay_ms;
    },
    mend: () => {
      network.is_cut = false;
      network.is_swallowing = false;
      for (const way of ways) way.goOn();
      for (const enter of outside) enter();
      outside.clear();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
