/** One call of a frame on its way through the relay: how its parts are read, and how its answer goes into the outbox. */

import type { Caller } from "../../identity/caller.ts";
import type { RelayLimits } from "../../limits.ts";
import type { JsonReply, Operation, Reply, RequestFacts } from "../../operations/operation.ts";
import { Problem } from "../../problem.ts";
import type { AnyCall, Carrier, Said } from "../calls.ts";
import type { WhyEnded } from "../in-flight.ts";
import { problemDocument } from "../problem-document.ts";
import { idempotencyKeyOf, traceparentOf } from "../request-facts.ts";
import type { Outlet } from "../room-account.ts";
import type { FrameCall } from "./frame.ts";
import { replyBytes } from "./reply-bytes.ts";
import { sendStream } from "./send-stream.ts";
import type { Session } from "./session.ts";

export class SessionCall implements Carrier {
  readonly n: number;
  readonly op: string;
  /** What of its frame is its own, while it is in flight. */
  readonly bytes: number;
  /** Whether it was answered with something else than a problem. */
  succeeded = false;
  readonly #session: Session;
  readonly #call: FrameCall;
  #controller: AbortController | null = null;
  #has_ended = false;
  #is_abandoned = false;

  constructor(session: Session, call: FrameCall, bytes: number) {
    this.n = call.n;
    this.op = call.op;
    this.bytes = bytes;
    this.#session = session;
    this.#call = call;
  }

  /** Only what waits can be ended before its time; everything else ends with the connection at most. */
  get signal(): AbortSignal {
    const { wait_ms, stream } = this.#call;
    if (wait_ms === undefined && stream === undefined) return this.#session.gone;
    this.#controller ??= new AbortController();
    if (this.#has_ended) this.#controller.abort();
    return this.#controller.signal;
  }

  get outlet(): Outlet {
    return this.#session.outbox;
  }

  get handoff(): unknown {
    const { params } = this.#call;
    return typeof params === "object" && params !== null && "id" in params ? params.id : undefined;
  }

  /** Whom it asks for work for; null: it does not. */
  get worker(): string | null {
    const { op, body } = this.#call;
    if (op !== "claim" || typeof body !== "object" || body === null || !("worker" in body)) return null;
    return typeof body.worker === "string" ? body.worker : null;
  }

  /** What `authenticate` brings. */
  get newCredential(): unknown {
    const { body } = this.#call;
    return typeof body === "object" && body !== null && "credential" in body ? body.credential : undefined;
  }

  /** Whether a credential is still worth something is the session's to find out. */
  end(why: WhyEnded): void {
    if (why === "revoked") return;
    this.#has_ended = true;
    this.#controller?.abort();
  }

  /** The client wants no answer any more. */
  abandon(): void {
    this.#is_abandoned = true;
    this.end("stopping");
  }

  get isAbandoned(): boolean {
    return this.#is_abandoned;
  }

  identify(operation: Operation): Caller {
    return this.#session.admit(operation);
  }

  said(operation: Operation): Said {
    const { params = {}, query = {}, wait_ms = 0 } = this.#call;
    if (typeof wait_ms !== "number" || !Number.isSafeInteger(wait_ms) || wait_ms < 0) {
      throw unfit("wait_ms", "must be a whole number of milliseconds");
    }
    const most = this.#session.limits.ws_wait_ms;
    return { params, query, wait_ms: Math.min(wait_ms, most), facts: this.#facts(operation) };
  }

  #facts(operation: Operation): RequestFacts {
    const { stream = false, last_event_id, idempotency_key, traceparent, content_type, base64 } = this.#call;
    if (typeof stream !== "boolean") throw unfit("stream", "must be true or false");
    if (stream && operation.streams !== true) {
      throw new Problem(400, "no_stream", `${operation.name} does not stream; call it without "stream".`);
    }
    const { return: shown = "representation" } = this.#call;
    if (shown !== "minimal" && shown !== "representation") throw unfit("return", "must be minimal or representation");
    const bytes = operation.streams_body === true ? bytesOf(base64, this.#session.limits) : null;
    return {
      idempotency_key: idempotencyKeyOf(idempotency_key),
      traceparent: traceparentOf(traceparent),
      last_event_id: textOf("last_event_id", last_event_id),
      if_none_match: null,
      range: null,
      wants_stream: stream,
      minimal: operation.minimal === true && shown === "minimal",
      content_type: textOf("content_type", content_type),
      content_length: bytes?.length ?? null,
      stream: bytes === null ? null : once(bytes),
    };
  }

  body(operation: Operation): unknown {
    const most = operation.body_bytes ?? this.#session.limits.body_bytes;
    if (this.bytes > most) {
      throw new Problem(413, "too_large", `The body is larger than ${most} bytes; larger payloads go as artifacts.`);
    }
    return this.#call.body ?? {};
  }

  deliver(reply: Reply, call: AnyCall): void | Promise<void> {
    switch (reply.kind) {
      case "json":
        return this.#sendJson(reply);
      case "text":
        return this.#sendText(reply, call);
      case "bytes":
        return this.#sendBytes(reply, call);
      case "nothing":
        return this.answer(reply.status, "");
      case "events":
        this.succeeded = true;
        return sendStream(this.#session, this, reply.events, call.caller.name);
      default:
        throw new Error(`unreachable reply ${JSON.stringify(reply satisfies never)}`);
    }
  }

  #sendJson({ status, text, undelivered, leases }: JsonReply): void | Promise<void> {
    try {
      const lost = undelivered === undefined ? null : () => this.#session.giveBack(undelivered);
      this.answer(status, `,"body":${text()}`, lost);
    } catch (error) {
      if (undelivered === undefined) throw error;
      // The caller gets a problem instead, which is a whole reply: nothing else would tell that this one was lost.
      return undelivered().then(() => Promise.reject(error));
    }
    if (leases !== undefined && !this.#is_abandoned) this.#session.leases.hold(leases);
  }

  async #sendText({ status, text }: Extract<Reply, { kind: "text" }>, call: AnyCall): Promise<void> {
    await call.room(text.length);
    this.answer(status, `,"text":${JSON.stringify(text)}`);
  }

  async #sendBytes(reply: Extract<Reply, { kind: "bytes" }>, call: AnyCall): Promise<void> {
    await call.room(this.#session.limits.reply_bytes);
    this.answer(reply.status, `,${await replyBytes(reply, this.#session.limits.ws_frame_bytes)}`);
  }

  /** `rest` is the members of the reply that say what came of it, after a comma; `lost` is told if it never leaves. */
  answer(status: number, rest: string, lost: (() => void) | null = null): void {
    this.succeeded = true;
    if (this.#is_abandoned) lost?.();
    else this.#session.outbox.add("replies", `{"n":${this.n},"status":${status}${rest}}`, lost);
  }

  refuse(problem: Problem): void {
    this.succeeded = false;
    if (this.#is_abandoned) return;
    const { status, document, retry_after_seconds } = problemDocument(problem);
    const retry = retry_after_seconds === null ? "" : `,"retry_after_ms":${retry_after_seconds * 1_000}`;
    const rest = `"status":${status},"problem":${JSON.stringify(document)}${retry}`;
    this.#session.outbox.add("replies", `{"n":${this.n},${rest}}`);
  }
}

function unfit(name: string, says: string): Problem {
  return new Problem(400, "unfit", `"${name}" of the call ${says}.`, { fields: [`/${name}`] });
}

function textOf(name: string, value: unknown): string | null {
  if (value === undefined || typeof value === "string") return value ?? null;
  throw unfit(name, "must be a string");
}

function bytesOf(base64: unknown, { ws_frame_bytes }: RelayLimits): Buffer {
  if (typeof base64 !== "string") {
    const next = `an artifact that does not fit into a frame of ${ws_frame_bytes} bytes goes over HTTP`;
    throw unfit("base64", `must be the artifact's bytes in base64; ${next}`);
  }
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") !== base64) throw unfit("base64", "is not base64 with padding");
  return bytes;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
