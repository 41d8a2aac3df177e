/** Gateways that die at the worst moment: work is finished, outcomes arrive, and nothing is done or told twice. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/fake-model.ts";
import { handoffIn, Stage, toldBy, until } from "./support/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open({ capabilities: { chat: { agent: "worker" } } });
});
afterAll(() => stage?.close());

test("a gateway killed in the middle: its work is redelivered and goes on in the same session", async () => {
  const { gateway, model } = stage;
  const ann = await stage.connect("ann");
  const bob = await stage.connect("bob");
  let bought = 0;
  const shop = await bob.serve({
    buy: () => {
      bought += 1;
      return `receipt ${bought}`;
    },
  });
  // The first attempt buys, and is killed before it can say so. The next buys again, as a model would.
  const buy = call("handfast_send", { capability: "buy", input: "bread" });
  model.works("errand", ({ number, results }) => {
    if (number === 0) return buy;
    if (number === 1) return { hangs: true };
    return results.length === 0 ? buy : { text: String(handoffIn(toldBy(results[0])).output) };
  });
  const handle = await ann.send("chat", "errand", { timeout: "9m", lease: "3s" });
  await until(() => model.calls("works", "errand").length === 2);
  await gateway.kill();
  await gateway.resume();
  expect(await handle.outcome()).toMatchObject({ state: "completed", attempts: 2, outcome: { output: "receipt 1" } });
  expect(bought).toBe(1);
  const again = model.calls("works", "errand")[2];
  expect(again?.all).toContain(`Handoff ${handle.id} from agent ann`);
  expect(again?.news).toContain("attempt 2");
  await shop.stop();
});

test("killed between reply and outcome: the reply is reported, and the model is not asked again", async () => {
  const { gateway, model, relay } = stage;
  const ann = await stage.connect("ann");
  const { promise: may_reply, resolve: go } = Promise.withResolvers<void>();
  model.works("finale", async () => {
    await may_reply;
    return { text: "the end" };
  });
  const handle = await ann.send("chat", "finale", { timeout: "9m", lease: "3s" });
  await until(() => model.calls("works", "finale").length === 1);
  // With the relay away the outcome cannot be told, though the session has the reply.
  await relay.pause();
  go();
  await until(() => new RegExp(`run handfast:${handle.id}\\S* ended`).test(gateway.log));
  await gateway.kill();
  await relay.resume();
  await gateway.resume();
  expect(await handle.outcome()).toMatchObject({ state: "completed", outcome: { output: "the end" } });
  expect(model.calls("works", "finale")).toHaveLength(1);
});

test("a sender killed while it waits gets its outcome into the session after its start, once", async () => {
  const { gateway, model } = stage;
  const cyd = await stage.connect("cyd");
  const { promise: may_answer, resolve: go } = Promise.withResolvers<void>();
  const server = await cyd.serve({ oracle: () => may_answer.then(() => "forty-two") });
  model.sends("oracle", ({ number }) =>
    number === 0 ? call("handfast_send", { capability: "oracle", input: {}, wait_seconds: 300 }) : { text: "noted" },
  );
  const turned = gateway.turn("agent:main:seeker", "ask the oracle").catch(() => "killed");
  const id = await until(async () => (await cyd.call("list", { query: { capability: "oracle" } })).handoffs[0]?.id);
  await cyd.handle(id).acknowledged();
  await gateway.kill();
  expect(await turned).toBe("killed");
  go();
  await cyd.handle(id).outcome({ take: false });
  await gateway.resume();
  const operator = await stage.operator();
  await until(async () => (await operator.handle(id).status()).taken_at !== null);
  const told = model.calls("sends", "oracle").filter(({ news }) => news.includes("forty-two"));
  expect(told).toHaveLength(1);
  await server.stop();
});
