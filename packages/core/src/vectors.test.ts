/** The specification's vectors, against the functions they speak of. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { chooseVectors, stateMachineVectors } from "../../../scripts/generate-vectors.ts";
import { choose, type FreeWorker, type Ready } from "./choose.ts";
import type { Command, Context, Decision } from "./command.ts";
import { decide } from "./decide.ts";
import type { Handoff } from "./handoff.ts";
import { type RoutingData, routingOf } from "./testing/routing-sample.ts";

interface StateMachineFile {
  readonly context: Context;
  readonly vectors: readonly {
    readonly name: string;
    readonly section: string;
    readonly state: Handoff | null;
    readonly command: Command;
    readonly context: Partial<Context>;
    readonly now: number;
    readonly expect: Omit<Decision, "next"> & { readonly next: Partial<Handoff> | null };
  }[];
}
interface ChooseFile {
  readonly vectors: readonly {
    readonly name: string;
    readonly ready: readonly Ready[];
    readonly workers: readonly (Omit<FreeWorker, "queues"> & { readonly queues: readonly string[] })[];
    readonly now: number;
    readonly routing: RoutingData | null;
    readonly expect: unknown;
  }[];
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../spec/vectors/${name}`, import.meta.url), "utf8"));
}

const machine = read<StateMachineFile>("state-machine.json");
const choosing = read<ChooseFile>("choose.json");

describe("spec/vectors/state-machine.json", () => {
  it.each(machine.vectors.map((vector) => [`${vector.section}: ${vector.name}`, vector] as const))(
    "%s",
    (_, vector) => {
      const { state, command, now } = vector;
      const next = vector.expect.next === null ? null : { ...state, ...vector.expect.next };
      const decision = decide(state, command, { ...machine.context, ...vector.context }, now);
      expect(decision).toEqual({ ...vector.expect, next });
    },
  );

  it("is what the scenarios tell now", () => {
    expect(machine, "run: node scripts/generate-vectors.ts").toEqual(asJson(stateMachineVectors()));
  });

  it("names every vector once", () => {
    const names = machine.vectors.map(({ section, name }) => `${section}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("spec/vectors/choose.json", () => {
  it.each(choosing.vectors.map((vector) => [vector.name, vector] as const))(
    "%s",
    (_, { ready, workers, now, routing, expect: said }) => {
      const sets = workers.map((worker) => ({ ...worker, queues: new Set(worker.queues) }));
      expect(choose(ready, sets, now, routing === null ? null : routingOf(routing))).toEqual(said);
    },
  );

  it("is what the cases tell now", () => {
    expect(choosing, "run: node scripts/generate-vectors.ts").toEqual(asJson(chooseVectors()));
  });
});

function asJson(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}
