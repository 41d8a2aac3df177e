/**
 * A small run as evidence, for tests of the judge: one handoff whose first worker was killed after its first checkpoint,
 * and which the second completed, with a handoff below it. Each line can be left out, doubled or changed.
 */

import type { Evidence, ListedHandoff, LogEvent } from "./evidence.ts";
import type { SenderLine, WorkerLine } from "./lines.ts";
import { type Done, digestOf, type Task } from "./task.ts";
import { terms } from "./terms.ts";

/** One thing that somebody wrote down, with a name of its own. */
export type ExampleLine =
  | { readonly what: string; readonly of: "log"; readonly entry: LogEvent; readonly payload?: unknown }
  | { readonly what: string; readonly of: "sender"; readonly entry: SenderLine }
  | { readonly what: string; readonly of: "killed" | "living"; readonly entry: WorkerLine };

/** The same line with something else in it. */
export function changed(line: ExampleLine, { payload, ...part }: Readonly<Record<string, unknown>>): ExampleLine {
  const given = payload === undefined ? {} : { payload };
  if (line.of === "log") return { ...line, ...given, entry: { ...line.entry, ...part } };
  if (line.of === "sender") return { ...line, entry: { ...line.entry, ...part } };
  return { ...line, entry: { ...line.entry, ...part } };
}

const task: Task = { kind: "steps", seed: "s", work_ms: 1 };
const below: Task = { kind: "simple", seed: "b", work_ms: 1 };
const [id, child] = ["handoff-1", "handoff-2"];
const [key, child_key] = ["shop-0", "shop-0/0"];
const correlation = "shop-group-0";
const lease_ms = 6_000;
const killed_at = 2_000;

const doneBy = (of: Task, by: string, worker: string, fence: number): Done => ({
  key: by,
  worker,
  fence,
  nonce: "n",
  digest: digestOf(of, by),
});
const output = doneBy(task, key, "living", 2);
const child_output = doneBy(below, child_key, "living", 1);

const logged = (
  what: string,
  handoff: string,
  seq: number,
  rest: Partial<LogEvent> & { type: string; at: number },
  payload?: unknown,
): ExampleLine => {
  const is_child = handoff === child;
  const common = { handoff, seq, correlation_id: correlation, causation_id: is_child ? id : null };
  const entry: LogEvent = { ...common, from: is_child ? "packer" : "shop", ...rest };
  return { what, of: "log", entry, ...(payload === undefined ? {} : { payload }) };
};

const honest: readonly ExampleLine[] = [
  {
    what: "intends",
    of: "sender",
    entry: { said: "intends", key, id: null, correlation, lease_ms, task },
  },
  logged("accepted", id, 1, { type: "accepted", at: 1_000 }, task),
  { what: "told accepted", of: "sender", entry: { said: "accepted", key, id, repeated: false } },
  logged("first delivery", id, 2, { type: "delivered", at: 1_001, worker: "killed", fence: 1 }),
  logged("first ack", id, 3, { type: "acknowledged", at: 1_002, worker: "killed", fence: 1 }),
  { what: "first began", of: "killed", entry: { said: "began", key, id, fence: 1, steps: 0, resumed: false } },
  logged("checkpointed", id, 4, { type: "checkpointed", at: 1_500, fence: 1 }),
  { what: "kept", of: "killed", entry: { said: "kept", key, fence: 1, steps: 1 } },
  logged("requeued", id, 5, { type: "requeued", at: 8_000, why: "lease_lost", worker: "killed", fence: 1 }),
  logged("second delivery", id, 6, { type: "delivered", at: 8_001, worker: "living", fence: 2 }),
  logged("second ack", id, 7, { type: "acknowledged", at: 8_002, worker: "living", fence: 2 }),
  { what: "second began", of: "living", entry: { said: "began", key, id, fence: 2, steps: 1, resumed: false } },
  logged("child accepted", child, 1, { type: "accepted", at: 8_010 }, below),
  { what: "sent", of: "living", entry: { said: "sent", key: child_key, parent: id, id: child, task: below } },
  logged("child delivered", child, 2, { type: "delivered", at: 8_011, worker: "living", fence: 1 }),
  logged("child ack", child, 3, { type: "acknowledged", at: 8_012, worker: "living", fence: 1 }),
  {
    what: "child began",
    of: "living",
    entry: { said: "began", key: child_key, id: child, fence: 1, steps: 0, resumed: false },
  },
  { what: "child did", of: "living", entry: { said: "did", key: child_key, fence: 1, output: child_output } },
  logged("child completed", child, 4, { type: "completed", at: 8_020, worker: "living", fence: 1 }, child_output),
  logged("child taken", child, 5, { type: "taken", at: 8_021 }),
  { what: "did", of: "living", entry: { said: "did", key, fence: 2, output } },
  logged("completed", id, 8, { type: "completed", at: 8_100, worker: "living", fence: 2 }, output),
  {
    what: "told outcome",
    of: "sender",
    entry: { said: "outcome", key, id, state: "completed", fence: 2, output },
  },
  logged("taken", id, 9, { type: "taken", at: 8_200 }),
  { what: "told taken", of: "sender", entry: { said: "taken", key } },
];

const listed = (handoff: string, by: string, from: string, fence: number): ListedHandoff => ({
  id: handoff,
  idempotency_key: by,
  from,
  state: "completed",
  code: 200,
  outcome: { fence, error: null },
  limits: { ...terms, lease_ms },
});

/** The run's evidence, after each of its lines went through `tamper`. */
export function example(tamper: (line: ExampleLine) => readonly ExampleLine[] = (line) => [line]): Evidence {
  const lines = honest.flatMap(tamper);
  const log = lines.flatMap((line) => (line.of === "log" ? [line] : []));
  const has = (what: string) => lines.some((line) => line.what === what);
  const of = (name: "killed" | "living") => lines.flatMap((line) => (line.of === name ? [line.entry] : []));
  return {
    log: log.map(({ entry, payload }, index) => ({
      pos: index + 1,
      event: entry,
      ...(payload === undefined ? {} : { payload: { input: payload } }),
    })),
    handoffs: [
      ...(has("accepted") ? [listed(id, key, "shop", 2)] : []),
      ...(has("child accepted") ? [listed(child, child_key, "packer", 1)] : []),
    ],
    dead_letters: [],
    relay_back_at: [],
    senders: [{ name: "shop", lines: lines.flatMap((line) => (line.of === "sender" ? [line.entry] : [])) }],
    workers: [
      { name: "killed", killed_at: [killed_at], lines: of("killed") },
      { name: "living", killed_at: [], lines: of("living") },
    ],
  };
}
