/** A port of the loopback that nobody listens on at this moment. */

import { createServer } from "node:net";

export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") return reject(new Error("the system gave no port"));
    server.close(() => resolve(address.port));
  });
  return promise;
}
