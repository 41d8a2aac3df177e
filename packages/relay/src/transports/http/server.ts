/** HTTP: requests become calls of operations, replies become responses. No rule of Handfast is decided here. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Logger } from "pino";
import type { Caller } from "../../identity/caller.ts";
import type { RelayLimits } from "../../limits.ts";
import type { Call, JsonReply, Operation, Reply, RequestFacts } from "../../operations/operation.ts";
import type { Relay } from "../../operations/relay.ts";
import { operations } from "../../operations/table.ts";
import { Problem } from "../../problem.ts";
import { type Fit, fitter } from "../../schemas/fit.ts";
import { type Connection, Connections } from "./connections.ts";
import { sendEvents } from "./event-stream.ts";
import { checkHostAndOrigin } from "./guard.ts";
import { checkSingleHeaders, idempotencyKeyOf, traceparentOf } from "./headers.ts";
import { fromFramework, notServed, refuseClient, refuseExpectation } from "./http-problem.ts";
import { waitOf } from "./prefer.ts";
import { asProblem, mistake, problemReply } from "./problem-reply.ts";
import { RateLimit } from "./rate-limit.ts";
import { readJson } from "./read-json.ts";
import { upload } from "./upload.ts";

export interface HttpServerOptions {
  readonly relay: Relay;
  readonly limits: RelayLimits;
  readonly log: Logger;
}

interface Served {
  readonly operation: Operation;
  readonly fitParams: Fit | null;
  readonly fitQuery: Fit;
  readonly fitPlain: Fit | null;
  readonly fitSigned: Fit | null;
}

const noQuery = fitter({ type: "object", additionalProperties: false, properties: {} } as never, "query");

export class HttpServer {
  readonly #relay: Relay;
  readonly #limits: RelayLimits;
  readonly #log: Logger;
  readonly #app: FastifyInstance;
  readonly #connections: Connections;
  readonly #known: RateLimit;
  readonly #strangers: RateLimit;
  readonly #stopRevocations: () => void;

  constructor({ relay, limits, log }: HttpServerOptions) {
    this.#relay = relay;
    this.#limits = limits;
    this.#log = log;
    this.#connections = new Connections(limits);
    const { requests_per_second: per_second, request_burst: burst } = relay.configuration.limits;
    this.#known = new RateLimit({ per_second, burst }, limits.rate_callers);
    this.#strangers = new RateLimit(
      { per_second: limits.anonymous_requests_per_second, burst: limits.anonymous_request_burst },
      limits.rate_callers,
    );
    this.#app = this.#build();
    this.#stopRevocations = relay.identity.onRevoked((agent) => this.#connections.revoke(agent));
  }

  /** Resolves with the port once it listens. */
  async listen(host: string, port: number): Promise<number> {
    await this.#app.listen({ host, port });
    return (this.#app.server.address() as AddressInfo).port;
  }

  /** No new calls; whoever waits gets an answer now; what is in flight finishes; the rest is cut. */
  async stop(): Promise<void> {
    this.#stopRevocations();
    const closed = this.#app.close();
    this.#connections.stop();
    const cut = setTimeout(() => this.#app.server.closeAllConnections(), this.#limits.stop_ms);
    await this.#connections.idle(this.#limits.stop_ms);
    this.#app.server.closeIdleConnections();
    await closed.finally(() => clearTimeout(cut));
  }

  #build(): FastifyInstance {
    const { header_bytes, headers_timeout_ms, request_timeout_ms } = this.#limits;
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
      },
      clientErrorHandler: refuseClient,
      frameworkErrors: (error, request, reply) => this.#fail(error, "unknown", request, reply),
      return503OnClosing: false,
    });
    app.removeAllContentTypeParsers();
    // Bodies are read by the operation's own rules, after the caller is known.
    app.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
    app.setErrorHandler((error, request, reply) => this.#fail(error, "unknown", request, reply));
    app.setNotFoundHandler((request, reply) => this.#fail(notServed(request.url), "unknown", request, reply));
    app.server.on("checkExpectation", refuseExpectation);
    for (const operation of operations) this.#serve(app, operation);
    return app;
  }

  #serve(app: FastifyInstance, operation: Operation): void {
    const served: Served = {
      operation,
      fitParams: operation.params === undefined ? null : fitter(operation.params, "path"),
      fitQuery: operation.query === undefined ? noQuery : fitter(operation.query, "query"),
      fitPlain: operation.body === undefined ? null : fitter(operation.body, "body"),
      fitSigned: operation.signed === undefined ? null : fitter(operation.signed, "body"),
    };
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      handler: (request, reply) => this.#handle(served, request, reply),
    });
  }

  async #handle(served: Served, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const began = performance.now();
    const { name } = served.operation;
    let connection: Connection | null = null;
    let code = 500;
    try {
      connection = this.#connections.open(name, request.raw, reply.raw);
      const call = await this.#call(served, request, connection);
      const answer = await served.operation.run(call);
      code = "status" in answer ? answer.status : 200;
      return await this.#send(answer, call, reply);
    } catch (error) {
      code = asProblem(error)?.code ?? 500;
      return this.#fail(error, name, request, reply);
    } finally {
      connection?.close();
      const took_ms = performance.now() - began;
      this.#relay.metrics.called(name, code, took_ms);
      this.#log.debug({ operation: name, code, took_ms: Math.round(took_ms) }, "call");
    }
  }

  async #call(
    { operation, fitParams, fitQuery, fitPlain, fitSigned }: Served,
    request: FastifyRequest,
    connection: Connection,
  ): Promise<Call<unknown, unknown, unknown>> {
    checkSingleHeaders(request.raw);
    const { headers } = request;
    const { configuration, audience } = this.#relay;
    if (configuration.development) checkHostAndOrigin(audience, headers.host, headers.origin);
    const visitor = await this.#identify(operation, request);
    if (visitor !== null) connection.belongsTo(visitor.name);
    fitParams?.(request.params);
    fitQuery(request.query);
    const wait_ms = operation.waits === true ? waitOf(headers["prefer"]) : 0;
    const facts = this.#facts(operation, request, connection.signal);
    if (wait_ms > 0 && !facts.wants_stream) connection.waits();
    return {
      relay: this.#relay,
      caller: visitor ?? { namespace: configuration.namespace, name: "", role: "agent", key: null },
      visitor,
      params: request.params,
      query: request.query,
      body: await this.#body(operation, request, fitPlain, fitSigned),
      wait_ms,
      signal: connection.signal,
      request: facts,
    };
  }

  async #identify({ access, tag }: Operation, request: FastifyRequest): Promise<Caller | null> {
    const { authorization } = request.headers;
    if (access === "anyone" && authorization === undefined) {
      if (tag !== "relay") this.#throttle(this.#strangers, request.ip);
      return null;
    }
    const caller = await this.#relay.identity.authenticate({ authorization }).catch((error: unknown) => {
      this.#throttle(this.#strangers, request.ip);
      throw error;
    });
    this.#throttle(this.#known, caller.name);
    if (access === "operator" && caller.role !== "operator") {
      throw new Problem(403, "operator_only", "This is for operators: give the operator's token.");
    }
    return caller;
  }

  #throttle(rate: RateLimit, caller: string): void {
    const seconds = rate.take(caller, performance.now());
    if (seconds > 0) throw new Problem(429, "too_fast", `Too many calls; try again in ${seconds} s.`, {}, seconds);
  }

  async #body(operation: Operation, request: FastifyRequest, plain: Fit | null, signed: Fit | null): Promise<unknown> {
    if (plain === null) return undefined;
    const { body_bytes, body_timeout_ms } = this.#limits;
    checkContentType(request.raw);
    const value = await readJson(request.raw, operation.body_bytes ?? body_bytes, body_timeout_ms);
    const isSigned = signed !== null && typeof value === "object" && value !== null && Object.hasOwn(value, "signed");
    (isSigned ? signed : plain)(value);
    return value;
  }

  #facts(operation: Operation, { raw, headers }: FastifyRequest, signal: AbortSignal): RequestFacts {
    const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(",") : (value ?? null));
    const accepts = headers.accept ?? "";
    return {
      idempotency_key: idempotencyKeyOf(headers["idempotency-key"]),
      traceparent: traceparentOf(headers["traceparent"]),
      last_event_id: one(headers["last-event-id"]),
      range: one(headers.range),
      wants_stream: operation.streams === true && accepts.includes("text/event-stream"),
      content_type: headers["content-type"] ?? null,
      content_length: headers["content-length"] === undefined ? null : Number(headers["content-length"]),
      stream: operation.streams_body === true ? upload(raw, this.#limits, signal) : null,
    };
  }

  async #send(answer: Reply, call: Call<unknown, unknown, unknown>, reply: FastifyReply): Promise<FastifyReply> {
    switch (answer.kind) {
      case "json":
        return this.#sendJson(answer, call, reply);
      case "text":
        return reply.code(answer.status).headers(answer.headers).send(answer.text);
      case "bytes":
        return this.#sendBytes(answer, reply);
      case "events":
        return this.#sendEvents(answer, call, reply);
      default:
        throw new Error(`unreachable reply ${JSON.stringify(answer satisfies never)}`);
    }
  }

  async #sendJson(
    answer: JsonReply,
    call: Call<unknown, unknown, unknown>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { raw } = reply;
    const { undelivered } = answer;
    try {
      // A line of its own for those who read it in a terminal.
      const text = `${answer.text()}\n`;
      if (undelivered !== undefined) this.#giveBackIfLost(raw, undelivered);
      if (raw.destroyed) return reply;
      reply.code(answer.status).headers({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        ...(call.wait_ms > 0 ? { "preference-applied": `wait=${Math.floor(call.wait_ms / 1_000)}` } : {}),
        ...answer.headers,
      });
      return reply.send(text);
    } catch (error) {
      // The caller gets a problem instead, which is a whole reply: nothing else would tell that this one was lost.
      await undelivered?.();
      throw error;
    }
  }

  /** What the worker never got, it cannot work on: given back at once instead of waiting for the ack clock. */
  #giveBackIfLost(raw: ServerResponse, undelivered: () => Promise<void>): void {
    const giveBack = () => {
      if (raw.writableFinished) return;
      undelivered().catch((error: unknown) =>
        this.#log.warn({ error: String(error) }, "leases could not be given back"),
      );
    };
    if (raw.destroyed) giveBack();
    else raw.once("close", giveBack);
  }

  async #sendBytes(answer: Extract<Reply, { kind: "bytes" }>, reply: FastifyReply): Promise<FastifyReply> {
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(answer.status, {
      ...answer.headers,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    // A reader that went away, or a fault halfway: the connection is cut, which is how HTTP says "not whole".
    await pipeline(answer.bytes, raw).catch(() => raw.destroy());
    return reply;
  }

  async #sendEvents(
    { events }: Extract<Reply, { kind: "events" }>,
    { caller }: Call<unknown, unknown, unknown>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const release = this.#connections.stream(caller.name);
    const { metrics } = this.#relay;
    reply.hijack();
    metrics.streamOpened();
    try {
      const { sse_keep_alive_ms: keep_alive_ms, sse_drain_ms: drain_ms } = this.#limits;
      const isStopping = () => this.#connections.stopping;
      const end = await sendEvents(reply.raw, events, { keep_alive_ms, drain_ms }, isStopping);
      if (end === "cut") metrics.streamCut();
    } catch (error) {
      if (asProblem(error) === null) this.#log.error({ err: error }, "a stream failed");
      reply.raw.destroy();
    } finally {
      release();
      metrics.streamClosed();
    }
    return reply;
  }

  #fail(thrown: unknown, operation: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = fromFramework(thrown);
    const problem = asProblem(error);
    if (problem === null) {
      this.#relay.metrics.fault("mistake");
      this.#log.error({ err: error, operation }, "the relay made a mistake");
    }
    const { status, headers, document } = problemReply(problem ?? mistake);
    if (reply.sent || reply.raw.headersSent) {
      reply.raw.destroy();
      return reply;
    }
    // What is left of a body nobody will read must not be taken for the next request.
    if (!request.raw.complete) reply.header("connection", "close");
    return reply
      .code(status)
      .headers(headers)
      .send(`${JSON.stringify(document)}\n`);
  }
}

/** A form or plain text can be sent across sites without asking; JSON cannot. */
function checkContentType({ headers }: IncomingMessage): void {
  const length = Number(headers["content-length"] ?? 0);
  if (length === 0 && headers["transfer-encoding"] === undefined) return;
  const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || type.endsWith("+json")) return;
  const detail = `The body must be application/json, not ${JSON.stringify(type)}.`;
  throw new Problem(400, "content_type", detail, { fields: ["Content-Type"] });
}
