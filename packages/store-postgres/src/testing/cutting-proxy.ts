/** For tests: a network between a store and its server that can lose a commit, or its answer. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  readonly port: number;
  /** The next commit is lost on the way there, or its answer on the way back; the connection breaks. */
  cutNextCommit(lost: "commit" | "answer"): void;
  /** Every connection breaks, and none is to be had until it is mended. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startProxy(server_port: number): Promise<CuttingProxy> {
  let lost: "commit" | "answer" | null = null;
  let is_cut = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    if (is_cut) return void near.destroy();
    const far = connect(server_port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      // Either end may break at any time: that is what it is for.
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    // What the server says from a commit on whose answer is to be lost. It has committed once it says so: what it said before of
    // the statements sent along would be too early to cut.
    let unheard: Buffer | null = null;
    near.on("data", (data) => {
      const cut = data.includes("COMMIT\0") ? lost : null;
      if (cut !== null) lost = null;
      if (cut === "commit") return near.destroy();
      if (cut === "answer") unheard = Buffer.alloc(0);
      return far.write(data);
    });
    far.on("data", (data) => {
      if (unheard === null) near.write(data);
      else {
        unheard = Buffer.concat([unheard, data]);
        if (unheard.includes("COMMIT\0")) near.destroy();
      }
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    cutNextCommit: (what) => {
      lost = what;
    },
    cut: () => {
      is_cut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => {
      is_cut = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
