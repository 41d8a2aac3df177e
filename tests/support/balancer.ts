/** What stands before several nodes: each new connection goes to one that says it is ready, and stays there until it ends. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export class Balancer implements AsyncDisposable {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();

  private constructor(server: ReturnType<typeof createServer>, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(nodes: () => readonly string[], port: number): Promise<Balancer> {
    const server = createServer({ pauseOnConnect: true }).listen(port, "127.0.0.1");
    await once(server, "listening");
    const balancer = new Balancer(server, `http://127.0.0.1:${port}`);
    let turn = 0;
    server.on("connection", (near) => {
      turn += 1;
      void balancer.#join(near, turn, nodes());
    });
    return balancer;
  }

  async #join(near: Socket, turn: number, nodes: readonly string[]): Promise<void> {
    this.#keep(near);
    for (const nth of nodes.keys()) {
      const url = nodes[(turn + nth) % nodes.length] ?? "";
      if (!(await isReady(url)) || near.destroyed) continue;
      const far = connect(Number(new URL(url).port), "127.0.0.1");
      this.#keep(far);
      far.on("close", () => near.destroy());
      near.on("close", () => far.destroy());
      near.pipe(far).pipe(near);
      return;
    }
    near.destroy();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // Either end may go at any time; whoever called it comes again.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}
