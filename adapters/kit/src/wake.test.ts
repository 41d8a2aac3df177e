/** What becomes of a waker whose user's own functions throw. */

import type { Client } from "@handfast/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, sentBy, until } from "./testing/stage.ts";
import { type Sleepers, type WakeOptions, wakeByOutcomes } from "./wake.ts";

let stage: Stage;
let hf: Client;
let warnings: string[];
const heard = (warning: Error) => void warnings.push(warning.message);

beforeEach(async () => {
  warnings = [];
  process.on("warning", heard);
  stage = await Stage.open();
  hf = await stage.agent("sender");
  const worker = await stage.agent("worker");
  await worker.serve({ echo: (input) => input }, { signals: false, grace: 0 });
  for (const each of [1, 2]) await hf.send("echo", each);
  await until(async () => (await sentBy(hf)).every(({ ended_at }) => ended_at !== null));
});
afterEach(async () => {
  process.off("warning", heard);
  await stage.close();
});

const thrown = new Error("of the user");
const awake = { keyOf: ({ id }) => id, wake: async () => "awake" } satisfies Sleepers;
const never_awake = { keyOf: ({ id }) => id, wake: () => Promise.reject(new Error("not now")) } satisfies Sleepers;

const cases: readonly (readonly [string, Sleepers, WakeOptions])[] = [
  [
    "onWoken",
    awake,
    {
      onWoken: () => {
        throw thrown;
      },
    },
  ],
  ["onWoken", awake, { onWoken: () => Promise.reject(thrown) as never }],
  [
    "onError",
    never_awake,
    {
      onError: () => {
        throw thrown;
      },
    },
  ],
  ["onError", never_awake, { onError: () => Promise.reject(thrown) as never }],
];

test.each(cases)("what %s throws is told, and the others are woken all the same", async (name, sleepers, options) => {
  const waker = wakeByOutcomes(hf, sleepers, { follow: false, attempts: 1, ...options });
  await waker.stopped;
  await until(() => warnings.length >= 2);
  expect(warnings).toEqual(Array(2).fill(`The option ${name} threw Error: of the user`));
  const taken = (await sentBy(hf)).map(({ taken_at }) => taken_at !== null);
  expect(taken).toEqual(Array(2).fill(name === "onWoken"));
  await waker.stop();
});
