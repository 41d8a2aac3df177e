/**
 * One operation of the wire: how it is called, what fits it, who may call it, and what it does. Transports translate
 * requests into calls and replies back; the documentation is generated from the same table.
 */

import type { Static, TObject, TSchema } from "typebox";
import type { Caller } from "../identity/caller.ts";
import type { Relay } from "./relay.ts";

type Tag =
  | "handoffs"
  | "workers"
  | "questions"
  | "dead letters"
  | "contracts"
  | "artifacts"
  | "log"
  | "agents"
  | "discovery"
  | "relay";

/** Who may call: anybody, whoever proved an identity, or operators only. */
type Access = "anyone" | "caller" | "operator";

interface Shape {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With parameters in braces, as in OpenAPI. */
  readonly path: string;
  readonly tag: Tag;
  readonly access: Access;
  readonly summary: string;
  readonly params?: TObject;
  readonly query?: TObject;
  /** The plain form; a body with a member `signed` is checked against `signed` instead, where that is given. */
  readonly body?: TSchema;
  readonly signed?: TSchema;
  /** Shown in the documentation instead of `body`, where elements are checked one by one. */
  readonly documented_body?: TSchema;
  /** A body that is not JSON reaches the operation as a stream. */
  readonly streams_body?: true;
  /** Larger than other bodies. */
  readonly body_bytes?: number;
  /** `Prefer: wait=N` is honoured. */
  readonly waits?: true;
  /** `Prefer: return=minimal` is honoured. */
  readonly minimal?: true;
  /** Also answered as `text/event-stream` to those who accept it. */
  readonly streams?: true;
  /** Schema of the reply by HTTP status; null: no body, or none that is JSON. */
  readonly replies: Readonly<Record<number, TSchema | null>>;
  /** Media type of the reply, where it is not JSON. */
  readonly media_type?: string;
  /** Codes of the problems it answers with, besides those that every operation knows. */
  readonly problems?: readonly number[];
}

type Of<S, Missing> = S extends TSchema ? Static<S> : Missing;
type BodyOf<S extends Shape> = Of<S["body"], undefined> | (S["signed"] extends TSchema ? Static<S["signed"]> : never);

export interface Call<Params, Query, Body> {
  readonly relay: Relay;
  /** Nobody in particular where anyone may call. */
  readonly caller: Caller;
  /** Who proved an identity although the operation asks for none. */
  readonly visitor: Caller | null;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** How long the caller is willing to wait; 0: not at all. */
  readonly wait_ms: number;
  /** Aborts when the caller has gone or the relay stops. */
  readonly signal: AbortSignal;
  readonly request: RequestFacts;
  /**
   * To be awaited before payloads are read for an answer of about so many bytes: resolves when there is room for it, at
   * once the second time.
   */
  readonly room: (bytes: number) => Promise<void>;
}

/** What an operation may want to know of the request itself. */
export interface RequestFacts {
  readonly idempotency_key: string | null;
  /** W3C trace context; null where there is none or it is not one. */
  readonly traceparent: string | null;
  readonly last_event_id: string | null;
  /** The tags of what the caller has already. */
  readonly if_none_match: string | null;
  readonly range: string | null;
  readonly wants_stream: boolean;
  /** The caller does not need to see what it has or can ask for. */
  readonly minimal: boolean;
  readonly content_type: string | null;
  readonly content_length: number | null;
  /** The bytes of a body that is not JSON. */
  readonly stream: AsyncIterable<Uint8Array> | null;
}

export type Reply =
  | JsonReply
  | {
      readonly kind: "bytes";
      readonly status: number;
      readonly headers: Headers;
      readonly bytes: AsyncIterable<Uint8Array>;
    }
  | { readonly kind: "text"; readonly status: number; readonly headers: Headers; readonly text: string }
  | { readonly kind: "events"; readonly events: AsyncIterable<StreamEvent> }
  | { readonly kind: "nothing"; readonly status: 204 };

type Headers = Readonly<Record<string, string>>;

export interface JsonReply {
  readonly kind: "json";
  readonly status: number;
  /** Its JSON. */
  readonly text: () => string;
  readonly headers?: Headers;
  /** The reply could not be handed over: the connection was lost, or the reply could not be made. */
  readonly undelivered?: () => Promise<void>;
  /** The leases that the caller now holds by it: a transport that can tell it when they are over may want to. */
  readonly leases?: readonly HeldLease[];
}

export interface HeldLease {
  readonly id: string;
  readonly fence: number;
}

/** One event of a stream; without an id it does not move the reader's cursor. */
export interface StreamEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

export interface Operation extends Shape {
  readonly run: (call: Call<unknown, unknown, unknown>) => Promise<Reply>;
}

/** The transport checks every part against these very schemas before `run`, which is what makes the cast sound. */
export function operation<const S extends Shape>(
  shape: S,
  run: (call: Call<Of<S["params"], undefined>, Of<S["query"], Record<never, never>>, BodyOf<S>>) => Promise<Reply>,
): Operation {
  return { ...shape, run: run as Operation["run"] };
}

/** That it was done is all there is to say. */
export const nothing: Reply = { kind: "nothing", status: 204 };

export function json(value: unknown, status = 200): JsonReply {
  return { kind: "json", status, text: () => JSON.stringify(value) };
}

/** What is JSON already. */
export function jsonText(text: string, status = 200): JsonReply {
  return { kind: "json", status, text: () => text };
}

/** A list of what is JSON already, in an object with whatever else there is to say. */
export function jsonList(
  name: string,
  items: readonly string[],
  besides: Readonly<Record<string, unknown>> = {},
): JsonReply {
  const rest = Object.entries(besides).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return { kind: "json", status: 200, text: () => `{${JSON.stringify(name)}:[${items.join(",")}]${rest.join("")}}` };
}
