/** One HTTP request on its way through the relay: how its parts are read, and how its answer is written. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Caller } from "../../identity/caller.ts";
import type { RelayLimits } from "../../limits.ts";
import type { JsonReply, Operation, Reply, RequestFacts } from "../../operations/operation.ts";
import type { Relay } from "../../operations/relay.ts";
import { Problem } from "../../problem.ts";
import type { AnyCall, Calls, Carrier, Said } from "../calls.ts";
import { checkHostAndOrigin } from "../guard.ts";
import type { WhyEnded } from "../in-flight.ts";
import { asProblem } from "../problem-document.ts";
import { idempotencyKeyOf, traceparentOf } from "../request-facts.ts";
import type { Outlet } from "../room-account.ts";
import { sendEvents } from "./event-stream.ts";
import { checkSingleHeaders } from "./headers.ts";
import { isMinimal, waitOf } from "./prefer.ts";
import { readJson } from "./read-json.ts";
import { sendProblem } from "./send-problem.ts";
import { upload } from "./upload.ts";

export interface HttpCallOptions {
  readonly relay: Relay;
  readonly calls: Calls;
  readonly limits: RelayLimits;
  readonly log: Logger;
}

export class HttpCall implements Carrier {
  readonly signal: AbortSignal;
  readonly outlet: Outlet;
  readonly #options: HttpCallOptions;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #controller = new AbortController();
  #isUpload = false;

  constructor(options: HttpCallOptions, request: FastifyRequest, reply: FastifyReply) {
    this.#options = options;
    this.#request = request;
    this.#reply = reply;
    this.signal = this.#controller.signal;
    const { raw } = reply;
    this.outlet = {
      get bytes() {
        return raw.destroyed ? 0 : raw.writableLength;
      },
    };
    raw.once("close", () => {
      options.calls.room.leave(this.outlet);
      if (!reply.raw.writableFinished) this.end();
    });
    if (request.raw.socket.destroyed) this.end();
  }

  /** What a caller is just putting up, a node that drains still takes. */
  end(why?: WhyEnded): void {
    if (why !== "draining" || !this.#isUpload) this.#controller.abort();
  }

  identify(operation: Operation): Promise<Caller | null> {
    const { relay, calls } = this.#options;
    const { raw, headers, ip } = this.#request;
    checkSingleHeaders(raw);
    if (relay.configuration.development) checkHostAndOrigin(relay.audience, headers.host, headers.origin);
    return calls.authenticate(operation, headers.authorization, ip);
  }

  said(operation: Operation): Said {
    const { params, query, headers } = this.#request;
    this.#isUpload = operation.streams_body === true;
    const wait_ms = operation.waits === true ? waitOf(headers["prefer"]) : 0;
    return { params, query, wait_ms, facts: this.#facts(operation) };
  }

  #facts(operation: Operation): RequestFacts {
    const { raw, headers } = this.#request;
    const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(",") : (value ?? null));
    const accepts = headers.accept ?? "";
    return {
      idempotency_key: idempotencyKeyOf(headers["idempotency-key"]),
      traceparent: traceparentOf(headers["traceparent"]),
      last_event_id: one(headers["last-event-id"]),
      if_none_match: one(headers["if-none-match"]),
      range: one(headers.range),
      wants_stream: operation.streams === true && accepts.includes("text/event-stream"),
      minimal: operation.minimal === true && isMinimal(headers["prefer"]),
      content_type: headers["content-type"] ?? null,
      content_length: headers["content-length"] === undefined ? null : Number(headers["content-length"]),
      stream: operation.streams_body === true ? upload(raw, this.#options.limits, this.signal) : null,
    };
  }

  body(operation: Operation): Promise<unknown> {
    const { body_bytes, body_timeout_ms } = this.#options.limits;
    checkContentType(this.#request.raw);
    return readJson(this.#request.raw, operation.body_bytes ?? body_bytes, body_timeout_ms);
  }

  refuse(problem: Problem): void {
    sendProblem(problem, this.#request, this.#reply, this.#options.limits);
  }

  deliver(answer: Reply, call: AnyCall): void | Promise<void> {
    switch (answer.kind) {
      case "json":
        return this.#sendJson(answer, call);
      case "text":
        this.#reply.code(answer.status).headers(answer.headers).send(answer.text);
        return;
      case "nothing":
        this.#reply.code(answer.status).headers(preferenceApplied(call)).send();
        return;
      case "bytes":
        return this.#sendBytes(answer);
      case "events":
        return this.#sendEvents(answer, call);
      default:
        throw new Error(`unreachable reply ${JSON.stringify(answer satisfies never)}`);
    }
  }

  async #sendJson(answer: JsonReply, call: AnyCall): Promise<void> {
    const { raw } = this.#reply;
    const { undelivered } = answer;
    try {
      // A line of its own for those who read it in a terminal.
      const text = `${answer.text()}\n`;
      if (undelivered !== undefined) this.#giveBackIfLost(raw, undelivered);
      if (raw.destroyed) return;
      this.#reply.code(answer.status).headers({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        ...preferenceApplied(call),
        ...answer.headers,
      });
      this.#reply.send(text);
      // What nobody takes is not kept for ever.
      if (raw.writableLength > 0) raw.setTimeout(this.#options.limits.reply_drain_ms, () => raw.destroy());
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
        this.#options.log.warn({ error: String(error) }, "leases could not be given back"),
      );
    };
    if (raw.destroyed) giveBack();
    else raw.once("close", giveBack);
  }

  async #sendBytes(answer: Extract<Reply, { kind: "bytes" }>): Promise<void> {
    this.#reply.hijack();
    const { raw } = this.#reply;
    raw.writeHead(answer.status, {
      ...answer.headers,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    // A reader that went away, or a fault halfway: the connection is cut, which is how HTTP says "not whole".
    await pipeline(answer.bytes, raw).catch(() => raw.destroy());
  }

  async #sendEvents({ events }: Extract<Reply, { kind: "events" }>, { caller }: AnyCall): Promise<void> {
    const { calls, relay, limits, log } = this.#options;
    const { metrics } = relay;
    const release = calls.in_flight.stream(caller.name);
    this.#reply.hijack();
    metrics.streamOpened();
    try {
      const { sse_keep_alive_ms: keep_alive_ms, sse_drain_ms: drain_ms } = limits;
      const isStopping = () => calls.in_flight.ending;
      const end = await sendEvents(this.#reply.raw, events, { keep_alive_ms, drain_ms }, isStopping);
      if (end === "cut") metrics.streamCut();
    } catch (error) {
      if (asProblem(error) === null) log.error({ err: error }, "a stream failed");
      this.#reply.raw.destroy();
    } finally {
      release();
      metrics.streamClosed();
    }
  }
}

function preferenceApplied({ wait_ms, request }: AnyCall): { readonly "preference-applied"?: string } {
  const applied = [
    ...(wait_ms > 0 ? [`wait=${Math.floor(wait_ms / 1_000)}`] : []),
    ...(request.minimal ? ["return=minimal"] : []),
  ];
  return applied.length === 0 ? {} : { "preference-applied": applied.join(", ") };
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
