/** Handfast with @handfast/client as its users use it: `send`, `result` (which takes the outcome) and `serve`. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@handfast/client";
import type { Address } from "../servers/server.ts";
import { type Driver, slots } from "./driver.ts";
import { at, inTurn } from "./in-turn.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";

export interface HandfastOptions {
  readonly transport: "websocket" | "http";
  /** Every act signed with a key, or the calls of agents that only have a token. */
  readonly identity: "keys" | "tokens";
  /** So many senders and so many workers, each an agent of its own. */
  readonly pairs: number;
  /** More workers than senders, where so many agents offer the same. */
  readonly workers?: number;
  /** Senders name the agents in turn, in place of what all of them offer. */
  readonly by_name?: boolean;
  /** Of several nodes the first has all senders and no worker; otherwise each has as many of both. */
  readonly apart?: boolean;
}

export async function openHandfast({ url: address = "" }: Address, options: HandfastOptions): Promise<Driver> {
  const home = await mkdtemp(join(tmpdir(), "handfast-bench-"));
  // A name belongs to whoever had it first, and the relay may have had other drivers before.
  const run = randomBytes(4).toString("hex");
  const urls = address.split(",");
  const [first = address, ...others] = urls;
  const open = (role: string, nodes: readonly string[]) => async (nth: number) => {
    const url = at(nodes, nth % nodes.length);
    const agent = `${role}-${nth}-${run}`;
    const { transport } = options;
    // One heartbeat thread is what a process with one worker has; a crowd of them would be no crowd's processes.
    const beats = options.pairs > 1 ? ({ heartbeats: "here" } as const) : {};
    const credential = options.identity === "keys" ? { home } : { token: await tokenFor(url, agent) };
    return connect({ url, agent, transport, ...beats, ...credential });
  };
  const senders = await inTurn(options.pairs, open("sender", options.apart === true ? [first] : urls));
  const count = options.workers ?? options.pairs;
  const workers = await inTurn(count, open("worker", options.apart === true ? others : urls));
  const [input, output] = [makeKilobyte(), makeKilobyte()];
  const concurrency = Math.ceil(slots / count);
  const serve = (client: Client) => client.serve({ work: () => output }, { concurrency, signals: false });
  const servers = await inTurn(count, async (nth) => serve(at(workers, nth)));
  const names = workers.map(({ agent }) => ({ to: agent, capability: "work" }));
  let turn = 0;
  return {
    handoff: async () => {
      turn += 1;
      const target = options.by_name === true ? at(names, turn % names.length) : "work";
      const handle = await at(senders, turn % senders.length).send(target, input, { timeout: "60s" });
      checkAnswer(await handle.result(), output);
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all([...senders, ...workers].map((client) => client.close()));
      await rm(home, { recursive: true, force: true });
    },
  };
}

const too_many = 429;
const pause_ms = 100;

/** The relay gives a token to whoever asks first for a name, in development mode; to so many a second. */
async function tokenFor(url: string, agent: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/tokens`, { method: "POST", headers, body: JSON.stringify({ agent }) });
  if (response.status === too_many) {
    await response.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
    return tokenFor(url, agent);
  }
  const answer: unknown = await response.json();
  const token = typeof answer === "object" && answer !== null && "token" in answer ? answer.token : undefined;
  if (typeof token !== "string") throw new Error(`no token for ${agent}: ${response.status}`);
  return token;
}
