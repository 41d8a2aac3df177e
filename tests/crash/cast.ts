/** Who takes part in a crash run: three senders and four workers, on every way that there is to speak to a relay. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Caller } from "../support/caller.ts";
import { Party, type PartyRole } from "./party.ts";
import { capability } from "./task.ts";

export interface Cast {
  readonly workers: readonly Party[];
  readonly senders: readonly Party[];
}

const scripts = {
  client: { sender: import.meta.resolve("./client-sender.ts"), worker: import.meta.resolve("./client-worker.ts") },
  plain: { sender: import.meta.resolve("./plain-sender.ts"), worker: import.meta.resolve("./plain-worker.ts") },
};

/** `onFailure` is told when one of them ends in any way that nobody meant. */
export async function startCast(
  url: string,
  directory: string,
  cache: string,
  onFailure: (error: Error) => void,
): Promise<Cast> {
  const home = join(directory, "home");
  mkdirSync(home);
  const plain_sender = await Caller.named(url, "shop-plain");
  const plain_worker = await Caller.named(url, "packer-plain", [{ name: capability.plain }]);
  const start = (
    kind: PartyRole["kind"],
    name: string,
    agent: string,
    way: "websocket" | "http" | { readonly token: string },
  ): Party => {
    const journal = join(directory, `${name}.jsonl`);
    const is_plain = typeof way === "object";
    const access = is_plain ? { transport: "http" as const, token: way.token } : { transport: way, token: "" };
    const script = scripts[is_plain ? "plain" : "client"][kind];
    const settings = { url, agent, worker: name, journal, home, ...access };
    return new Party({ kind, name, script, settings, cache }, onFailure);
  };
  const workers = [
    start("worker", "packer-1", "packer", "websocket"),
    start("worker", "packer-2", "packer", "websocket"),
    start("worker", "packer-http", "packer", "http"),
    start("worker", "packer-plain", "packer-plain", { token: plain_worker.token }),
  ];
  // What nobody offers yet would be refused.
  await Promise.all(workers.map(({ ready }) => ready));
  const senders = [
    start("sender", "shop-websocket", "shop-websocket", "websocket"),
    start("sender", "shop-http", "shop-http", "http"),
    start("sender", "shop-plain", "shop-plain", { token: plain_sender.token }),
  ];
  await Promise.all(senders.map(({ ready }) => ready));
  return { workers, senders };
}
