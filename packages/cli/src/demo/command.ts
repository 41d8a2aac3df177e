/** `handfast demo`: a relay and real agent processes, and everything that can go wrong, in half a minute. */

import type { Command, Context } from "../command.ts";
import type { ExitName } from "../exit-codes.ts";
import { Narrator } from "./narrator.ts";
import { Stage } from "./stage.ts";
import type { Step } from "./step.ts";
import { deadline } from "./steps/deadline.ts";
import { plain } from "./steps/plain.ts";
import { question } from "./steps/question.ts";
import { relayDies } from "./steps/relay-dies.ts";
import { scatter } from "./steps/scatter.ts";
import { stream } from "./steps/stream.ts";
import { workerDies } from "./steps/worker-dies.ts";

const steps: readonly Step[] = [plain, scatter, workerDies, relayDies, deadline, question, stream];

export const demo: Command = {
  name: "demo",
  summary: "Shows what a relay does, with real processes that are really killed.",
  description:
    "Starts a relay and agents on this machine, in a folder that is removed afterwards, and takes them through " +
    `${steps.length} steps. Ends with an error if any of them did not happen.`,
  examples: [
    { line: "demo", help: "everything, in less than half a minute" },
    { line: "demo --json", help: "every event as a line of JSON" },
  ],
  run: (context) => perform(steps, context),
};

export async function perform(steps: readonly Step[], { terminal, signal }: Context): Promise<ExitName> {
  const began = performance.now();
  const narrator = new Narrator(terminal);
  const stage = await terminal.busy("starting a relay and its agents", Stage.open());
  try {
    await stage.agent("writer", "writer", "writer-1");
    terminal.print(`relay ${stage.url}, agents as processes of their own`);
    let failed = 0;
    for (const [index, step] of steps.entries()) {
      if (signal.aborted) return "interrupted";
      narrator.begin(step.name, index + 1, step.title);
      if (!(await play(step, stage, narrator, signal))) failed += 1;
    }
    const took_ms = performance.now() - began;
    if (terminal.json) terminal.jsonLine({ steps: steps.length, failed, took_ms: Math.round(took_ms) });
    const verdict = failed === 0 ? "all of it happened" : `${failed} of ${steps.length} steps did not happen`;
    terminal.print(`\n${verdict} · ${(took_ms / 1_000).toFixed(1)} s`);
    if (failed === 0) terminal.next("handfast start");
    return signal.aborted ? "interrupted" : failed === 0 ? "ok" : "ended";
  } finally {
    await stage.close();
  }
}

/** Whether it happened; an interrupt leaves the step where it is. */
async function play(step: Step, stage: Stage, narrator: Narrator, signal: AbortSignal): Promise<boolean> {
  const began = performance.now();
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new Error("interrupted"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([step.run(stage, narrator), interrupted]);
    narrator.end(true, performance.now() - began);
    return true;
  } catch (error) {
    narrator.end(false, performance.now() - began, error instanceof Error ? error.message : String(error));
    return false;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
