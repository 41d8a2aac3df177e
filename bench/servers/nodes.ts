/** Several relays of ours on one database, each a process of its own, as docs/cluster.md starts them. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Unavailable } from "../obtain/unavailable.ts";
import { freePort } from "./free-port.ts";
import { type RelayServer, startRelay } from "./relay.ts";
import type { Place, Server } from "./server.ts";

export const startOneNode = (place: Place) => startNodes(place, 1);
export const startThreeNodes = (place: Place) => startNodes(place, 3);

async function startNodes({ database, ...place }: Place, count: number): Promise<Server> {
  if (database === undefined) throw new Unavailable("nodes share a database, and none was lent");
  const ports: number[] = [];
  for (let nth = 0; nth < count; nth += 1) ports.push(await freePort());
  const urls = ports.map((port) => `http://127.0.0.1:${port}`).join();
  const nodes: RelayServer[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (const [nth, port] of ports.entries()) {
      const directory = join(place.directory, `node-${nth + 1}`);
      mkdirSync(directory);
      nodes.push(
        await startRelay({ ...place, directory, port, more: ["--store", database.url, "--public-url", urls] }),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: { url: urls },
    about: `${count === 1 ? "one node" : `${count} nodes`}, rate and open limits raised out of the way; ${database.about}`,
    usage: () => {
      const all = [...nodes, database].map((one) => one.usage());
      const known = all.filter((usage) => usage !== null);
      if (known.length < all.length) return null;
      const sum = (of: (usage: (typeof known)[number]) => number) => known.reduce((total, one) => total + of(one), 0);
      return { rss_bytes: sum(({ rss_bytes }) => rss_bytes), cpu_ms: sum(({ cpu_ms }) => cpu_ms) };
    },
    stop,
  };
}
