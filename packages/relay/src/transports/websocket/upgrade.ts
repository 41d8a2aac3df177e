/** `GET /v1/connect`: which requests to upgrade are taken, and what the others are told while it is still HTTP. */

import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { RelayLimits } from "../../limits.ts";
import type { Relay } from "../../operations/relay.ts";
import { Problem } from "../../problem.ts";
import type { Calls } from "../calls.ts";
import { checkHostAndOrigin } from "../guard.ts";
import { rawProblemReply } from "../http/problem-reply.ts";
import type { WebSocketSessions } from "./sessions.ts";
import { boundStranger, WsSocket } from "./ws-socket.ts";

export const connect_path = "/v1/connect";
const subprotocol = "handfast.v1";

export function isConnecting({ url, headers }: IncomingMessage): boolean {
  return url?.split("?", 1)[0] === connect_path && headers.upgrade?.toLowerCase() === "websocket";
}

export interface UpgradesOptions {
  readonly relay: Relay;
  readonly calls: Calls;
  readonly sessions: WebSocketSessions;
  readonly limits: RelayLimits;
}

export class Upgrades {
  readonly #options: UpgradesOptions;
  readonly #server: WebSocketServer;

  constructor(options: UpgradesOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.limits.ws_frame_bytes,
      // Strict JSON is checked for it anyway.
      skipUTF8Validation: true,
      handleProtocols: () => subprotocol,
    });
  }

  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { relay, calls, sessions } = this.#options;
    try {
      const { host, origin } = request.headers;
      if (relay.configuration.development) checkHostAndOrigin(relay.audience, host, origin);
      checkSubprotocol(request.headers["sec-websocket-protocol"]);
      sessions.checkRoom();
    } catch (error) {
      socket.on("error", () => socket.destroy());
      socket.end(rawProblemReply(calls.problemOf(error, "connect")));
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#accept(opened, request));
  }

  #accept(opened: WebSocket, { socket: raw }: IncomingMessage): void {
    const { sessions, limits } = this.#options;
    const session = sessions.accept(new WsSocket(opened), raw.remoteAddress ?? "");
    if (raw instanceof Socket) boundStranger(raw, limits.ws_hello_bytes, () => session.caller !== null);
  }
}

function checkSubprotocol(header: string | undefined): void {
  const offered = (header ?? "").split(",").map((name) => name.trim());
  if (offered.includes(subprotocol)) return;
  const detail = `The subprotocol must be ${subprotocol}, not ${JSON.stringify((header ?? "").slice(0, 128))}.`;
  throw new Problem(400, "subprotocol", detail, { fields: ["Sec-WebSocket-Protocol"] });
}
