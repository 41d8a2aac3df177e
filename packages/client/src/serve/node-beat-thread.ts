/** The thread that sends heartbeats. It is told which leases to hold, and tells which are over. */

import { parentPort, workerData } from "node:worker_threads";
import { Credentials } from "../identity/credential.ts";
import type { Identity } from "../identity/identity.ts";
import { nodeCrypto, nodeKey } from "../identity/node-crypto.ts";
import { HttpExchange } from "../link/http-exchange.ts";
import { HttpLink } from "../link/http-link.ts";
import type { LeaseOver, Link } from "../link/link.ts";
import { plainSocket, type WebSocketConstructor } from "../link/web-socket.ts";
import { WsLink } from "../link/ws-link.ts";
import { realSurroundings as surroundings } from "../surroundings.ts";
import { type BeatenLease, BeatLoop } from "./beats.ts";

export interface ThreadStart {
  readonly agent: string;
  readonly namespace: string;
  readonly relay: string;
  readonly url: string;
  readonly transport: "websocket" | "http";
  readonly seed: Uint8Array | null;
  readonly authorization: string;
}

export type ToThread =
  | { readonly hold: readonly BeatenLease[]; readonly drop: readonly BeatenLease[] }
  | { readonly authorization: string };

export type FromThread = { readonly over: LeaseOver } | { readonly ready: true };

const start = workerData as ThreadStart;
let given = start.authorization;

async function identityOf({ agent, namespace, relay, seed }: ThreadStart): Promise<Identity> {
  const credentials =
    seed === null ? null : new Credentials({ agent, namespace, relay, key: await nodeKey(seed) }, surroundings);
  return {
    signer: null,
    authorization: async (fresh) => credentials?.current(fresh) ?? given,
    // Only the main thread knows what the agent offers: it registers again, and the next heartbeat finds it known.
    readmit: async () => {
      throw new Error("the relay does not know the agent yet");
    },
  };
}

function linkOf({ url, transport }: ThreadStart, identity: Identity): Link {
  const exchange = new HttpExchange(url, fetch, surroundings);
  const options = { identity, crypto: nodeCrypto, surroundings, patience_ms: 0 };
  const http = new HttpLink({ ...options, exchange });
  if (transport === "http") return http;
  return new WsLink({ ...options, url: exchange.url, open: plainSocket(WebSocket as WebSocketConstructor), http });
}

if (parentPort !== null) {
  const port = parentPort;
  const tell = (said: FromThread) => port.postMessage(said);
  const loop = new BeatLoop(linkOf(start, await identityOf(start)), surroundings, (over) => tell({ over }));
  port.on("message", (said: ToThread) => {
    if ("authorization" in said) {
      given = said.authorization;
      return;
    }
    for (const lease of said.drop) loop.drop(lease);
    for (const lease of said.hold) loop.hold(lease);
  });
  tell({ ready: true });
}
