/**
 * What an answer may be, whatever was asked: a status that is documented for the operation, a body that fits its schema,
 * or a problem with a reason that is explained; and never a word about the relay's inside.
 */

import { reasonTables } from "@handfast/protocol";
import { problem } from "@handfast/protocol/wire";
import type { Operation } from "../../../packages/relay/src/operations/operation.ts";
import { operations } from "../../../packages/relay/src/operations/table.ts";
import { type Fit, fitter } from "../../../packages/relay/src/schemas/fit.ts";
import { isObject } from "../json/schema-values.ts";

const byName: ReadonlyMap<string, Operation> = new Map(operations.map((operation) => [operation.name, operation]));
const fits = new Map<string, Fit>();
const fitsProblem = fitter(problem, "body");
const reasons = new Map(
  [
    ...Map.groupBy(
      reasonTables.flatMap((table) => table.reasons),
      ({ reason }) => reason,
    ),
  ].map(([reason, rows]) => [reason, new Set(rows.flatMap(({ codes }) => codes))]),
);

/** Any call: malformed, without proof of who it is, too fast, with an unknown expectation; with a body: too slow, too large. */
const of_any_call = [400, 401, 408, 413, 417, 429];
/** Requests that no operation was found for, and what is HTTP's own. */
const of_no_operation = [403, 404, 405, 426];
/** Places in a text that only a stack has. */
const inside = /\n\s+at |node:internal|node_modules|\.ts:\d+/;

export interface Answered {
  readonly status: number;
  /** Null: it is neither JSON nor a problem. */
  readonly body: unknown;
  readonly is_problem: boolean;
}

const routes = operations.map(({ name, method, path }) => ({
  name,
  method,
  pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

/** The operation that an address and a method stand for; null: none. */
export function operationAt(method: string, target: string): string | null {
  // With the name of a host before it, as for a proxy, an address leads to the same place.
  const path = decoded(target.replace(/^https?:\/\/[^/?#]*/, "").split(/[?#]/, 1)[0] ?? "");
  return routes.find((route) => route.method === method && route.pattern.test(path))?.name ?? null;
}

/** A letter may stand in an address as itself or by its number; a slash by its number divides nothing. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** What is wrong with an answer; null: nothing. */
export function faultOf(
  operation: string | null,
  { status, body, is_problem }: Answered,
  foreign = false,
): string | null {
  const op = operation === null ? undefined : byName.get(operation);
  if (!mayAnswer(op, status, foreign))
    return `${operation ?? "no operation"} was answered with ${status}: ${shown(body)}`;
  if (is_problem) return problemFault(status, body);
  if (status >= 400 && op?.replies[status] === undefined)
    return `${operation} was answered with ${status} without a problem document: ${shown(body)}`;
  return op === undefined || body === null ? null : bodyFault(op, status, body);
}

function mayAnswer(op: Operation | undefined, status: number, foreign: boolean): boolean {
  if (of_any_call.includes(status)) return true;
  if (op === undefined) return (status >= 200 && status < 300) || of_no_operation.includes(status);
  if (op.replies[status] !== undefined) return true;
  // To a foreign Host or Origin, and to whoever is no operator.
  if (status === 403 && (foreign || op.access === "operator")) return true;
  return op.problems?.includes(status) === true;
}

function problemFault(status: number, body: unknown): string | null {
  const unfit = misfit(fitsProblem, body);
  if (unfit !== null) return `a problem document that is none: ${unfit}: ${shown(body)}`;
  if (!isObject(body)) return "a problem document that is no object";
  const { reason, code, detail, status: said } = body;
  const codes = reasons.get(String(reason));
  if (codes === undefined) return `the reason ${shown(reason)} is explained nowhere: ${shown(body)}`;
  if (!codes.has(Number(code)))
    return `the reason ${shown(reason)} is not explained for ${shown(code)}: ${shown(body)}`;
  if (said !== status) return `the problem says ${shown(said)}, the answer ${status}`;
  return inside.test(String(detail)) ? `a problem that tells of the relay's inside: ${shown(body)}` : null;
}

function bodyFault(op: Operation, status: number, body: unknown): string | null {
  const schema = op.replies[status];
  if (schema === undefined) return `${op.name} answered ${status}, which it does not document`;
  if (schema === null) return null;
  const key = `${op.name} ${status}`;
  const fit = fits.get(key) ?? fitter(schema, "body");
  fits.set(key, fit);
  const unfit = misfit(fit, body);
  return unfit === null ? null : `${key} does not fit its schema: ${unfit}: ${shown(body)}`;
}

function misfit(fit: Fit, value: unknown): string | null {
  try {
    fit(value);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 1_000);
}

/** Frames of the relay, and the codes it closes with. */
const frameMembers: ReadonlySet<string> = new Set(["hello", "replies", "events", "over", "pong", "problem"]);
const closeCodes: ReadonlySet<number> = new Set([
  1000, 1001, 1002, 1003, 1005, 1007, 1009, 4400, 4401, 4408, 4413, 4429, 4430,
]);

export function frameFault(frame: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(frame);
  if (names.length !== 1 || !frameMembers.has(names[0] ?? "")) return `a frame of the relay's with ${names.join(", ")}`;
  if (frame["problem"] === undefined) return null;
  const { status } = Object(frame["problem"]);
  return problemFault(Number(status), frame["problem"]);
}

/** Null, a connection that ended without a close, is for the relay's own reasons only: it is judged where it happens. */
export function closeFault(code: number): string | null {
  // A code that the fuzzer closed with comes back as it is.
  return closeCodes.has(code) || (code >= 3000 && code < 5000) ? null : `the connection was closed with ${code}`;
}
