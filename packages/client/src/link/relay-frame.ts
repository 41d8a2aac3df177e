/** A frame of the relay, read: whatever has not the shape that the protocol gives it is no frame, however it came about. */

import type { ProblemDocument } from "../errors.ts";
import type { LeaseOver } from "./link.ts";
import { isProblem } from "./refusal.ts";

export interface Hello {
  readonly agent: string;
  readonly expires_in_ms: number | null;
  /** How often the relay itself looks whether its peer is there. */
  readonly ping_ms?: number;
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

type Test = (value: unknown) => boolean;

/** Null: it is none. Members that are not known are left alone. */
export function readRelayFrame(data: unknown): RelayFrame | null {
  const value = parse(data);
  return isFrame(value) ? (value as RelayFrame) : null;
}

function parse(data: unknown): unknown {
  if (typeof data !== "string") return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

const isNumber: Test = (value) => typeof value === "number";
const isCount: Test = (value) => Number.isSafeInteger(value) && Number(value) >= 1;
const isString: Test = (value) => typeof value === "string";
const orAbsent =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value);
const list =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test);
const record =
  (tests: Readonly<Record<string, Test>>): Test =>
  (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const members = value as Readonly<Record<string, unknown>>;
    return Object.entries(tests).every(([name, test]) => test(members[name]));
  };

const isFrame = record({
  hello: orAbsent(
    record({
      agent: isString,
      expires_in_ms: orNull(isNumber),
      ping_ms: orAbsent(isCount),
      limits: record({ frame_bytes: isCount, frame_calls: isCount, calls_in_flight: isCount }),
    }),
  ),
  replies: orAbsent(list(record({ n: isNumber, status: isNumber, retry_after_ms: orAbsent(isNumber) }))),
  events: orAbsent(list(record({ n: isNumber, event: isString, id: orAbsent(isString) }))),
  over: orAbsent(
    list(record({ id: isString, fence: isNumber, code: isNumber, reason: isString, detail: orAbsent(isString) })),
  ),
  problem: orAbsent(isProblem),
  pong: orAbsent(isNumber),
});
