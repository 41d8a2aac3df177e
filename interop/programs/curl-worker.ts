/** A worker that has nothing but `curl`: it claims, acknowledges, beats, asks and completes by plain calls. */

import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { holding_note, input_schema, output_schema, type TaskInput, type WorkerCommand } from "../protocol.ts";
import { Caller } from "./curl.ts";
import { commands, setting, tell } from "./lines.ts";

const by = setting("INTEROP_NAME");
const beat_every_ms = 500;
const worker = `curl-${process.pid}`;

interface Lease {
  readonly id: string;
  readonly fence: number;
  readonly input: TaskInput;
}

for await (const { serve } of commands<WorkerCommand>()) {
  const { agent, capability } = serve;
  const caller = await Caller.as(agent, [{ name: capability, input_schema, output_schema }]);
  tell({ serving: capability });
  void claimForEver(caller);
}
process.exit(0);

async function claimForEver(caller: Caller): Promise<never> {
  for (;;) {
    const { body } = await caller.call("POST", "/v1/claims", { body: { worker, slots: 10 }, wait: true });
    for (const lease of (body["leases"] ?? []) as Lease[]) void work(caller, lease);
  }
}

async function work(caller: Caller, { id, fence, input }: Lease): Promise<void> {
  const act = (name: string, more: object = {}) =>
    caller.call("POST", `/v1/handoffs/${id}/${name}`, { body: { fence, worker, ...more } });
  await act("ack");
  if (input.mode === "hold" && !(await holdOn(`${input.hold}`, act))) return;
  const answer = input.mode === "ask" ? { answer: await ask(caller, act) } : {};
  await act("complete", { output: { text: input.text.toUpperCase(), by, ...answer } });
}

/** False: it was called off, or its time is over. */
async function holdOn(
  hold: string,
  act: (name: string, more?: object) => Promise<{ status: number }>,
): Promise<boolean> {
  const progress = { fraction: 0.5, note: holding_note };
  let alive = (await act("heartbeat", { progress })).status === 200;
  writeFileSync(`${hold}.begun`, "");
  while (alive && !existsSync(`${hold}.go`)) {
    await sleep(beat_every_ms);
    alive = (await act("heartbeat", { progress })).status === 200;
  }
  if (!alive) writeFileSync(`${hold}.stopped`, "");
  return alive;
}

async function ask(caller: Caller, act: (name: string, more?: object) => Promise<{ body: object }>): Promise<unknown> {
  const { body } = await act("ask", { question: { word: "which?" }, schema: { type: "string" } });
  const { id } = body as { id: string };
  for (;;) {
    const question = await caller.call("GET", `/v1/questions/${encodeURIComponent(id)}`, { wait: true });
    if (question.body["open"] === false) return question.body["answer"];
    await act("heartbeat");
  }
}
