/** What senders ask for and workers do: small pieces of work of several kinds, whose outcome tells who did it. */

import { createHash, randomUUID } from "node:crypto";

type TaskKind =
  /** Work, and nothing else. */
  | "simple"
  /** In steps, with a checkpoint after each. */
  | "steps"
  /** With streamed text and progress on the way. */
  | "stream"
  /** With a question back to the sender, the lease kept meanwhile. */
  | "ask"
  /** The same without a lease: the handler ends and is run again. */
  | "park"
  /** With two handoffs below it. */
  | "children";

export interface Task {
  readonly kind: TaskKind;
  readonly seed: string;
  readonly work_ms: number;
}

/** What a worker made of a task: `nonce` is new in every run, so that two runs can be told apart. */
export interface Done {
  readonly key: string;
  readonly worker: string;
  readonly fence: number;
  readonly nonce: string;
  readonly digest: string;
}

/** What a handler keeps between attempts. */
export interface Kept {
  readonly steps: number;
}

/** They all go through the relay as JSON, and come back as something that has yet to be looked at. */
export function isTask(json: unknown): json is Task {
  return hasMembers(json, { kind: "string", seed: "string", work_ms: "number" });
}

export function isDone(json: unknown): json is Done {
  return hasMembers(json, { key: "string", worker: "string", fence: "number", nonce: "string", digest: "string" });
}

/** How many steps were done before this attempt. */
export function stepsIn(checkpoint: unknown): number {
  if (checkpoint === null) return 0;
  if (isKept(checkpoint)) return checkpoint.steps;
  throw new Error(`this is no checkpoint of ours: ${JSON.stringify(checkpoint)}`);
}

function isKept(json: unknown): json is Kept {
  return hasMembers(json, { steps: "number" });
}

function hasMembers(json: unknown, types: Readonly<Record<string, "string" | "number">>): json is object {
  if (typeof json !== "object" || json === null) return false;
  return Object.entries(types).every(([name, type]) => typeof Reflect.get(json, name) === type);
}

/** The two offers: every worker does the first; the second needs the client. */
export const capability = { plain: "work", rich: "rich_work" } as const;
export const step_count = 3;

/** Of a hundred tasks. */
const shares: Readonly<Record<TaskKind, number>> = { simple: 55, steps: 20, stream: 8, ask: 5, park: 5, children: 7 };
const kinds = (Object.keys(shares) as TaskKind[]).flatMap((kind) => Array<TaskKind>(shares[kind]).fill(kind));
const longest_work_ms = 400;

/** `is_rich`: whether the sender can answer questions and see to handoffs below. */
export function drawTask(is_rich: boolean): Task {
  const possible = is_rich ? kinds : kinds.filter(isPlain);
  const kind = possible[Math.floor(Math.random() * possible.length)] ?? "simple";
  return { kind, seed: randomUUID(), work_ms: Math.floor(Math.random() * longest_work_ms) };
}

export function capabilityOf({ kind }: Task): string {
  return isPlain(kind) ? capability.plain : capability.rich;
}

function isPlain(kind: TaskKind): boolean {
  return kind === "simple" || kind === "steps";
}

export function done(task: Task, key: string, worker: string, fence: number): Done {
  return { key, worker, fence, nonce: randomUUID(), digest: digestOf(task, key) };
}

/** The work's result: the same whoever does it. */
export function digestOf({ seed, kind }: Task, key: string): string {
  return createHash("sha256").update(`${key}\n${kind}\n${seed}`).digest("hex");
}

/** A question is its handoff's key; this is what only somebody who looked at it would answer. */
export function answerTo(key: string): string {
  return createHash("sha256").update(`answer\n${key}`).digest("hex");
}
