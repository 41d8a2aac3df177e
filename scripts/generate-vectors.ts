// Writes spec/vectors/state-machine.json and choose.json: node scripts/generate-vectors.ts, then format with biome.
import { writeFileSync } from "node:fs";
import { choose } from "../packages/core/src/choose.ts";
import type { Context, Decision } from "../packages/core/src/command.ts";
import type { Handoff } from "../packages/core/src/handoff.ts";
import { chooseCases } from "../packages/core/src/testing/choose-cases.ts";
import type { Life } from "../packages/core/src/testing/life.ts";
import { routingOf } from "../packages/core/src/testing/routing-sample.ts";
import { context } from "../packages/core/src/testing/sample.ts";
import { scenarios } from "../packages/core/src/testing/scenarios.ts";

const usual = context();

/** The fields in which one record differs from another; all of them where there was none before. */
function differing<T extends object>(after: T, before: T | null): Partial<T> {
  const was = new Map(Object.entries(before ?? {}));
  const fields = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was.get(name)),
  );
  return Object.fromEntries(fields) as Partial<T>;
}

function expected(decision: Decision, state: Handoff | null): object {
  return { ...decision, next: decision.next === null ? null : differing(decision.next, state) };
}

function vector(section: string, name: string, life: Life): object {
  const step = life.steps.at(-1);
  if (step === undefined) throw new Error(`nothing happens in ${JSON.stringify(name)}`);
  const { state, command, now, decision } = step;
  const known: Partial<Context> = differing(step.context, usual);
  return { name, section, state, command, context: known, now, expect: expected(decision, state) };
}

/** What state-machine.json must hold now; its test compares. */
export function stateMachineVectors(): object {
  return {
    about:
      "Each vector: a handoff's record (null: none yet), a command, what is known besides, and the time; expect tells the decision. A field that a vector's context leaves out has the value of the context given here once. A field that expect.next leaves out has the value it has in state; expect.next null: the record does not change.",
    context: usual,
    vectors: Object.entries(scenarios).flatMap(([section, named]) =>
      Object.entries(named).map(([name, tell]) => vector(section, name, tell())),
    ),
  };
}

/** What choose.json must hold now; its test compares. */
export function chooseVectors(): object {
  return {
    about:
      "Each vector: what is ready, the workers, the time, and what is known of the agents (routing; null: they are all equal); expect tells which handoff goes to which worker, in order, and why. Whoever routing.standings does not name is a newcomer of 1 s and success 0.5 with nothing in flight. routing.draws are the random numbers, in order.",
    vectors: chooseCases.map(({ name, ready, workers, now, routing }) => {
      const sets = workers.map((worker) => ({ ...worker, queues: new Set(worker.queues) }));
      const known = routing === null ? null : routingOf(routing);
      return { name, ready, workers, now, routing, expect: choose(ready, sets, now, known) };
    }),
  };
}

if (import.meta.main) {
  const folder = new URL("../spec/vectors/", import.meta.url);
  writeFileSync(new URL("state-machine.json", folder), `${JSON.stringify(stateMachineVectors(), null, 2)}\n`);
  writeFileSync(new URL("choose.json", folder), `${JSON.stringify(chooseVectors(), null, 2)}\n`);
}
