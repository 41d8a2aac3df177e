/** A worker's process on the real client. Its handlers do every kind of task, and write down what they did. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Context, connect } from "@handfast/client";
import { Journal } from "./journal.ts";
import { readSettings, sayReady, toldToFinish } from "./life.ts";
import type { WorkerLine } from "./lines.ts";
import { answerTo, capability, type Done, done, type Kept, step_count, stepsIn, type Task } from "./task.ts";
import { patience, terms } from "./terms.ts";

const { url, agent, worker, transport, home, journal: path } = readSettings();
const { journal } = Journal.open<WorkerLine>(path);
const hf = await connect({
  url,
  agent,
  transport,
  home,
  patience,
  onWarning: ({ reason, message }) => journal.write({ said: "warned", reason, message }),
  onConnection: () => {},
});

async function handle(task: Task, ctx: Context): Promise<Done> {
  const { idempotencyKey: key, handoff, previous } = ctx;
  const { id, fence } = handoff;
  const steps = stepsIn(previous.checkpoint);
  journal.write({ said: "began", key, id, fence, steps, resumed: false });
  await workOn(task, ctx, steps);
  const output = done(task, key, worker, fence);
  journal.write({ said: "did", key, fence, output });
  return output;
}

async function workOn(task: Task, ctx: Context, steps_done: number): Promise<void> {
  const { signal } = ctx;
  switch (task.kind) {
    case "simple":
      await sleep(task.work_ms, undefined, { signal });
      return;
    case "steps":
      return workInSteps(task, ctx, steps_done);
    case "stream":
      return stream(task, ctx);
    case "ask":
    case "park":
      return ask(task, ctx);
    case "children":
      return handOn(ctx);
  }
}

async function workInSteps(task: Task, ctx: Context, steps_done: number) {
  const { signal, checkpoint, idempotencyKey: key, handoff } = ctx;
  for (let steps = steps_done + 1; steps <= step_count; steps += 1) {
    await sleep(task.work_ms / step_count, undefined, { signal });
    const state: Kept = { steps };
    await checkpoint(state);
    journal.write({ said: "kept", key, fence: handoff.fence, steps });
  }
}

async function stream(task: Task, { signal, write, progress }: Context) {
  for (let step = 1; step <= step_count; step += 1) {
    await sleep(task.work_ms / step_count, undefined, { signal });
    await write(`${task.seed} `);
    progress(step / step_count, "on the way");
  }
}

async function ask(task: Task, { ask: put, idempotencyKey: key, handoff }: Context) {
  const answer = await put(key, { park: task.kind === "park" });
  journal.write({ said: "heard", key, fence: handoff.fence, answer });
  if (answer !== answerTo(key)) throw new Error(`${key} was answered with ${JSON.stringify(answer)}`);
}

/** Both are found again by their keys when this attempt is lost and another one sends them again. */
async function handOn({ send, signal, idempotencyKey: parent, handoff }: Context) {
  const { ack_ms: ack, max_attempts: attempts } = terms;
  const below = [0, 1].map(async (place) => {
    const key = `${parent}/${place}`;
    const task = childOf(key);
    const handle = await send<Done>(capability.plain, task, {
      idempotencyKey: key,
      lease: handoff.lease_ms,
      ack,
      attempts,
    });
    journal.write({ said: "sent", key, parent: handoff.id, id: handle.id, task });
    await handle.result({ take: false });
    await handle.take({ signal });
  });
  await Promise.all(below);
}

/** The same in every attempt: what is sent again under a key must be the same. */
function childOf(key: string): Task {
  return { kind: "simple", seed: key, work_ms: 50 };
}

await hf.serve({ [capability.plain]: handle, [capability.rich]: handle }, { worker, concurrency: 8, signals: false });
sayReady();
await toldToFinish();
process.exit(0);
