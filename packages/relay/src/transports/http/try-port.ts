/** Whether the port can be had. Asked before the store is opened: a start that comes to nothing leaves nothing behind. */

import { once } from "node:events";
import { createServer } from "node:net";

/** Throws as listening would. The port is let go again: whoever calls should find it closed until somebody answers there. */
export async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen({ host, port });
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
