/** Which link a client gets: a WebSocket where there is one, HTTP where it was asked for or nothing else goes through. */

import type { Base } from "../base.ts";
import type { ConnectOptions } from "../connect.ts";
import { RelayUnreachable, UsageError } from "../errors.ts";
import { isNode } from "../platform.ts";
import { HttpLink, type HttpLinkOptions } from "./http-link.ts";
import type { Link } from "./link.ts";
import { type OpenSocket, plainSocket, type WebSocketConstructor } from "./web-socket.ts";
import { WsLink } from "./ws-link.ts";

export interface ChosenLink {
  readonly link: Link;
  readonly transport: "websocket" | "http";
}

/** `prove`: a first call, which tells whether the link works. */
export async function chooseLink(
  options: HttpLinkOptions,
  { transport = "auto", fetch: given, WebSocket: own, onConnection: told }: ConnectOptions,
  warn: Base["warn"],
  prove: (link: Link) => Promise<unknown>,
): Promise<ChosenLink> {
  const onConnection = told ?? warnOfAbsence(options.exchange.url, warn);
  const construct = transport === "http" ? undefined : (own ?? globalWebSocket());
  if (transport === "websocket" && construct === undefined) {
    const message = "There is no WebSocket here.";
    throw new UsageError(message, 'Give one (option WebSocket), or connect with transport: "http".');
  }
  if (construct === undefined || (transport === "auto" && given !== undefined && own === undefined)) {
    return { link: await proven(new HttpLink({ ...options, onConnection }), prove), transport: "http" };
  }
  const open = await openSocket(construct, own === undefined);
  const { exchange, ...rest } = options;
  const link = new WsLink({ ...rest, url: exchange.url, open, http: new HttpLink(options), onConnection, warn });
  try {
    return { link: await proven(link, prove), transport: "websocket" };
  } catch (error) {
    if (transport === "websocket" || !(error instanceof RelayUnreachable)) throw error;
    // The relay answered over HTTP a moment ago: something in between lets no WebSocket through.
    const again = await proven(new HttpLink({ ...options, onConnection }), prove);
    const message = `No WebSocket to ${exchange.url} could be opened, so HTTP is used, which is slower: ${error.message}`;
    warn({ reason: "no_websocket", message });
    return { link: again, transport: "http" };
  }
}

/** Somebody who named nobody to be told should see why nothing happens; that it is back shows by itself. */
function warnOfAbsence(url: string, warn: Base["warn"]): NonNullable<ConnectOptions["onConnection"]> {
  return (state) => {
    if (state === "away") warn({ reason: "relay_away", message: `The relay at ${url} is away; it is tried again.` });
  };
}

async function proven<L extends Link>(link: L, prove: (link: Link) => Promise<unknown>): Promise<L> {
  try {
    await prove(link);
    return link;
  } catch (error) {
    await link.close(0);
    throw error;
  }
}

function globalWebSocket(): WebSocketConstructor | undefined {
  const { WebSocket: found }: { WebSocket?: unknown } = globalThis;
  return typeof found === "function" ? (found as WebSocketConstructor) : undefined;
}

async function openSocket(construct: WebSocketConstructor, isGlobal: boolean): Promise<OpenSocket> {
  if (!isGlobal || !isNode()) return plainSocket(construct);
  const { nodeSocket } = await import("./node-socket.ts");
  return nodeSocket(construct);
}
