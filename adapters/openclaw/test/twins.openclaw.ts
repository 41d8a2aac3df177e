/** Two gateways under one agent's name: they share the work, and each session has its own outcomes. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/fake-model.ts";
import { Gateway } from "./support/gateway.ts";
import { Stage, until } from "./support/stage.ts";

let stage: Stage;
let twin: Gateway;
beforeAll(async () => {
  stage = await Stage.open({ capabilities: { chat: { agent: "worker" } }, concurrency: 1 });
  twin = await Gateway.start({ model_url: stage.model.url, handfast: stage.handfast });
  // One that was loaded anew counts as much as one that was not.
  await stage.gateway.reconfigure({ ...stage.handfast, late: "quiet" });
});
afterAll(async () => {
  await twin?.stop();
  await stage?.close();
});

test("a late outcome comes to the gateway that sent the handoff, once", async () => {
  const { gateway, model } = stage;
  const dan = await stage.connect("dan");
  const { promise: may_answer, resolve: go } = Promise.withResolvers<void>();
  const server = await dan.serve({ slow: (of: string) => may_answer.then(() => `late word for ${of}`) });
  const senders = { castor: gateway, pollux: twin };
  for (const [word, sender] of Object.entries(senders)) {
    model.sends(word, ({ number }) =>
      number === 0 ? call("handfast_send", { capability: "slow", input: word, wait_seconds: 0 }) : { text: "ok" },
    );
    await sender.turn(`agent:main:${word}`, `Do ${word}.`);
  }
  go();
  const operator = await stage.operator();
  await until(async () => {
    const { handoffs } = await operator.call("list", { query: { capability: "slow" } });
    return handoffs.length === 2 && handoffs.every(({ taken_at }) => taken_at !== null);
  });
  for (const word of Object.keys(senders)) {
    const told = model.calls("sends", word).filter(({ news }) => news.includes("late word"));
    expect(told.map(({ news }) => news.includes(`late word for ${word}`))).toEqual([true]);
  }
  await server.stop();
});

test("both take handoffs, each once, and all are done", async () => {
  const { model, gateway } = stage;
  const ann = await stage.connect("ann");
  model.works("ping", () => ({ text: "pong" }));
  const inputs = [1, 2, 3, 4, 5, 6].map((n) => `ping ${n}`);
  const handles = await Promise.all(inputs.map((input) => ann.send("chat", input, { timeout: "9m" })));
  const views = await Promise.all(handles.map((handle) => handle.outcome()));
  expect(views.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual(inputs.map(() => "completed 1"));
  const worked = (log: string) => handles.filter(({ id }) => log.includes(`run handfast:${id}`)).length;
  expect(worked(gateway.log)).toBeGreaterThan(0);
  expect(worked(twin.log)).toBeGreaterThan(0);
  expect(worked(gateway.log) + worked(twin.log)).toBe(inputs.length);
});
