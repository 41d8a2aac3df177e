/** For tests: what a store and its server say to each other, statement by statement. All of it goes on as it came. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { Messages, textsIn } from "./messages.ts";

interface Overheard {
  /** Which of the connections, in the order they were made. */
  readonly connection: number;
  readonly statement: string;
  /** That it was answered with, so far. */
  rows: number;
}

export interface Overhearing {
  readonly port: number;
  /** In the order they were asked. */
  readonly heard: readonly Overheard[];
  close(): Promise<void>;
}

/** What ends the answer to a statement: it is complete, was empty, or failed. */
const over = new Set(["C", "I", "E"]);

export async function overhear(server_port: number): Promise<Overhearing> {
  const heard: Overheard[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };

  const proxy = createServer((near) => {
    const far = connect(server_port, "127.0.0.1");
    keep(near, far);
    keep(far, near);
    const connection = connections;
    connections += 1;
    const [asked, answered] = [new Messages(true), new Messages(false)];
    const prepared = new Map<string, string>();
    const open: Overheard[] = [];
    const ask = (statement: string) => {
      const one = { connection, statement, rows: 0 };
      heard.push(one);
      open.push(one);
    };
    near.on("data", (data) => {
      for (const message of asked.in(data)) {
        const [first = "", second = ""] = textsIn(message, 2);
        if (message.type === "P") prepared.set(first, second);
        if (message.type === "B") ask(prepared.get(second) ?? "");
        if (message.type === "Q") ask(first);
      }
      far.write(data);
    });
    far.on("data", (data) => {
      for (const { type } of answered.in(data)) {
        const [oldest] = open;
        if (type === "D" && oldest !== undefined) oldest.rows += 1;
        if (over.has(type)) open.shift();
      }
      near.write(data);
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    heard,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
