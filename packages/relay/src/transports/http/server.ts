/** HTTP: requests become calls of operations, replies become responses. No rule of Handfast is decided here. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Logger } from "pino";
import type { RelayLimits } from "../../limits.ts";
import type { Relay } from "../../operations/relay.ts";
import { operations } from "../../operations/table.ts";
import type { Calls } from "../calls.ts";
import type { WebSocketSessions } from "../websocket/sessions.ts";
import { connect_path, isConnecting, Upgrades } from "../websocket/upgrade.ts";
import { Exchanges } from "./exchanges.ts";
import { HttpCall } from "./http-call.ts";
import { fromFramework, notServed, refuseClient, refuseExpectation } from "./http-problem.ts";
import { HttpProblem } from "./problem-reply.ts";
import { sendProblem } from "./send-problem.ts";

export interface HttpServerOptions {
  readonly relay: Relay;
  readonly calls: Calls;
  /** WebSockets come in by the same port. */
  readonly sessions: WebSocketSessions;
  readonly limits: RelayLimits;
  readonly log: Logger;
  /** Told of every request as it arrives, before anything is done about it: for tests that must know what is under way. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
}

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #app: FastifyInstance;

  /** Connections on which nothing was asked yet: a client opens them ahead, and nobody waits for an answer on them. */
  readonly #silent = new Set<Socket>();
  readonly #exchanges = new Exchanges();

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#app = this.#build();
  }

  /** Resolves with the port once it listens. */
  async listen(host: string, port: number): Promise<number> {
    await this.#app.listen({ host, port });
    return (this.#app.server.address() as AddressInfo).port;
  }

  /** No new calls; whoever waits gets an answer now; what is in flight finishes; the rest is cut. */
  async stop(): Promise<void> {
    const { calls, sessions, limits } = this.#options;
    const closed = this.#app.close();
    calls.stop();
    const cut = setTimeout(() => this.#app.server.closeAllConnections(), limits.stop_ms);
    await Promise.all([calls.in_flight.idle(limits.stop_ms), sessions.stop()]);
    this.#app.server.closeIdleConnections();
    for (const socket of this.#silent) socket.destroy();
    await closed.finally(() => clearTimeout(cut));
  }

  #build(): FastifyInstance {
    const { header_bytes, headers_timeout_ms, request_timeout_ms } = this.#options.limits;
    const app = fastify({
      logger: false,
      exposeHeadRoutes: false,
      forceCloseConnections: "idle",
      requestTimeout: request_timeout_ms,
      keepAliveTimeout: 75_000,
      // No parameter is longer than the whole head may be: their own schemas say what fits.
      routerOptions: { maxParamLength: header_bytes, ignoreTrailingSlash: false },
      http: {
        maxHeaderSize: header_bytes,
        headersTimeout: headers_timeout_ms,
        connectionsCheckingInterval: Math.min(1_000, headers_timeout_ms),
        // Any other request to upgrade (such as h2c) is answered as if it had not been asked for.
        shouldUpgradeCallback: isConnecting,
      },
      clientErrorHandler: (error, socket) => refuseClient(error, socket, this.#exchanges.isAnswering(socket)),
      frameworkErrors: (error, request, reply) => this.#fail(error, request, reply),
      return503OnClosing: false,
    });
    app.removeAllContentTypeParsers();
    // Bodies are read by the operation's own rules, after the caller is known.
    app.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
    // Whoever kept a connection open to a node that drains comes by another one, which may lead to another node. Not awaited: what
    // follows on the connection, and may be no HTTP, must not be read before the answer is on its way.
    app.addHook("onSend", (_request, reply, _payload, done) => {
      if (this.#options.calls.in_flight.draining) reply.header("connection", "close");
      done();
    });
    app.setErrorHandler((error, request, reply) => this.#fail(error, request, reply));
    app.setNotFoundHandler((request, reply) => this.#fail(notServed(request.url), request, reply));
    app.server.on("checkExpectation", (request, response) =>
      refuseExpectation(request, response, this.#options.limits),
    );
    app.server.on("connection", (socket: Socket) => {
      this.#silent.add(socket);
      socket.once("close", () => this.#silent.delete(socket));
    });
    app.server.prependListener("request", (request, response) => {
      this.#exchanges.begin(request, response);
      this.#options.onRequest?.(request, response);
    });
    for (const asked of ["request", "upgrade"]) {
      app.server.on(asked, ({ socket }: IncomingMessage) => this.#silent.delete(socket));
    }
    this.#serve(app);
    return app;
  }

  #serve(app: FastifyInstance): void {
    const upgrades = new Upgrades(this.#options);
    app.server.on("upgrade", (request, socket, head) => upgrades.take(request, socket, head));
    app.get(connect_path, (request, reply) => this.#fail(upgradeRequired(), request, reply));
    for (const { name, method, path } of operations) {
      app.route({
        method,
        url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
        handler: async (request, reply) => {
          await this.#options.calls.take(name, new HttpCall(this.#options, request, reply));
          return reply;
        },
      });
    }
  }

  /** What went wrong before any operation was reached. */
  #fail(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { calls, limits } = this.#options;
    sendProblem(calls.problemOf(fromFramework(thrown), "unknown"), request, reply, limits);
    return reply;
  }
}

function upgradeRequired(): HttpProblem {
  const detail = "This address is for WebSockets; open it with the subprotocol handfast.v1.";
  return new HttpProblem(426, 400, "upgrade_required", detail, { upgrade: "websocket", connection: "upgrade" });
}
