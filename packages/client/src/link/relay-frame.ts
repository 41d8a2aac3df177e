/** A frame of the relay, read: whatever has not the shape that the protocol gives it is no frame, however it came about. */

import type { ProblemDocument } from "../errors.ts";
import type { LeaseOver } from "./link.ts";
import { isProblem } from "./refusal.ts";

export interface Hello {
  readonly agent: string;
  readonly expires_in_ms: number | null;
  /** How often the relay itself looks whether its peer is there. */
  readonly ping_ms?: number;
  /** What this relay can do beyond the least. */
  readonly features?: readonly string[];
  readonly limits: { readonly frame_bytes: number; readonly frame_calls: number; readonly calls_in_flight: number };
}

export interface RelayFrame {
  readonly hello?: Hello;
  readonly replies?: readonly Reply[];
  readonly events?: readonly StreamedEvent[];
  readonly over?: readonly LeaseOver[];
  readonly problem?: ProblemDocument;
  readonly pong?: number;
}

export interface Reply {
  readonly n: number;
  readonly status: number;
  readonly body?: unknown;
  readonly problem?: unknown;
  readonly retry_after_ms?: number;
}

interface StreamedEvent {
  readonly n: number;
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** Null: it is none. Members that are not known are left alone. */
export function readRelayFrame(data: unknown): RelayFrame | null {
  const value = parse(data);
  return isFrame(value) ? value : null;
}

function parse(data: unknown): unknown {
  if (typeof data !== "string") return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

type Members<Shape> = { readonly [name in keyof Shape]?: unknown };

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFrame(value: unknown): value is RelayFrame {
  if (!isRecord(value)) return false;
  const { hello, replies, events, over, problem, pong }: Members<RelayFrame> = value;
  return (
    (hello === undefined || isHello(hello)) &&
    (replies === undefined || (Array.isArray(replies) && replies.every(isReply))) &&
    (events === undefined || (Array.isArray(events) && events.every(isEvent))) &&
    (over === undefined || (Array.isArray(over) && over.every(isOver))) &&
    (problem === undefined || isProblem(problem)) &&
    isNumberOrAbsent(pong)
  );
}

function isHello(value: unknown): value is Hello {
  if (!isRecord(value)) return false;
  const { agent, expires_in_ms, ping_ms, features, limits }: Members<Hello> = value;
  if (typeof agent !== "string" || !(expires_in_ms === null || typeof expires_in_ms === "number")) return false;
  if (!(ping_ms === undefined || isCount(ping_ms)) || !isRecord(limits)) return false;
  if (!(features === undefined || (Array.isArray(features) && features.every(isString)))) return false;
  const { frame_bytes, frame_calls, calls_in_flight }: Members<Hello["limits"]> = limits;
  return isCount(frame_bytes) && isCount(frame_calls) && isCount(calls_in_flight);
}

function isReply(value: unknown): value is Reply {
  if (!isRecord(value)) return false;
  const { n, status, retry_after_ms }: Members<Reply> = value;
  return typeof n === "number" && typeof status === "number" && isNumberOrAbsent(retry_after_ms);
}

function isEvent(value: unknown): value is StreamedEvent {
  if (!isRecord(value)) return false;
  const { n, event, id }: Members<StreamedEvent> = value;
  return typeof n === "number" && typeof event === "string" && isStringOrAbsent(id);
}

function isOver(value: unknown): value is LeaseOver {
  if (!isRecord(value)) return false;
  const { id, fence, code, reason, detail }: Members<LeaseOver> = value;
  const is_known = typeof id === "string" && typeof fence === "number";
  return is_known && typeof code === "number" && typeof reason === "string" && isStringOrAbsent(detail);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isNumberOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "number";
}

function isStringOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
