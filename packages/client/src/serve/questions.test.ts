/** Questions from within a handler: asked and waited for, parked, asked again. */

import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import type { Client } from "../client.ts";
import { gate, Stage } from "./testing/stage.ts";

let stage: Stage;
let sender: Client;
let worker: Client;
beforeEach(async () => {
  stage = await Stage.open();
  [sender, worker] = await Promise.all([stage.agent("sender"), stage.agent("worker")]);
});
afterEach(() => stage.close());

/** Answers every question put to the member, in order, until the test is over. */
async function answerAll(member: Client, answers: readonly unknown[]): Promise<string[]> {
  const asked: string[] = [];
  for await (const question of member.questions()) {
    asked.push(question.id);
    await member.answer(question, answers[asked.length - 1]);
    if (asked.length === answers.length) break;
  }
  return asked;
}

test("a handler that waits for an answer keeps its lease and goes on with it", async () => {
  await worker.serve({
    pay: async ({ amount }: { amount: number }, ctx) => {
      const answer = await ctx.ask({ text: `Pay ${amount}?` }, { schema: z.object({ yes: z.boolean() }) });
      return { paid: answer.yes, fence: ctx.handoff.fence };
    },
  });
  const handle = await sender.send("pay", { amount: 3 });
  const [asked] = await answerAll(sender, [{ yes: true }]);
  expect(await handle.result()).toEqual({ paid: true, fence: 1 });
  expect(asked).toBe(`${handle.id}:q1`);
});

test("a parked question holds no slot, and the handler is run again with the answer", async () => {
  let runs = 0;
  const parked = gate();
  const server = await worker.serve(
    {
      approve: async (_input: unknown, ctx) => {
        runs += 1;
        if (runs === 1) ctx.signal.addEventListener("abort", () => parked.resolve());
        const first = await ctx.ask("first?", { park: true });
        const second = await ctx.ask("second?", { park: true });
        return { first, second, before: ctx.previous.questions.length };
      },
      other: () => "done meanwhile",
    },
    { concurrency: 1 },
  );
  const handle = await sender.send("approve", null);
  await parked.promise;
  expect(await (await sender.send("other", null)).result()).toBe("done meanwhile");
  expect(await answerAll(sender, ["one", "two"])).toEqual([`${handle.id}:q1`, `${handle.id}:q2`]);
  expect(await handle.result()).toEqual({ first: "one", second: "two", before: 2 });
  expect(runs).toBe(3);
  expect(server.active).toBe(0);
  expect((await handle.status()).attempts).toBe(1);
});

test("an attempt that was lost after an answer is not asked the same again", async () => {
  await worker.serve({
    twice: async (_input: unknown, ctx) => {
      const answer = await ctx.ask("your name?");
      if (ctx.attempt === 1) throw new Error("lost it");
      return answer;
    },
  });
  const handle = await sender.send("twice", null);
  await answerAll(sender, ["Ada"]);
  expect(await handle.result()).toBe("Ada");
});

test("questions asked at once are put one after the other", async () => {
  await worker.serve({
    both: (_input: unknown, ctx) => Promise.all([ctx.ask("a?"), ctx.ask("b?")]),
  });
  const handle = await sender.send("both", null);
  await answerAll(sender, [1, 2]);
  expect(await handle.result()).toEqual([1, 2]);
});

test("a question to a capability is answered by whoever offers it", async () => {
  const desk = await stage.agent("desk");
  await desk.serve({ approval: () => null });
  await worker.serve({ pay: (_input: unknown, ctx) => ctx.ask("may I?", { to: "approval" }) });
  const handle = await sender.send("pay", null);
  await answerAll(desk, ["yes"]);
  expect(await handle.result()).toBe("yes");
});

test("a question that nobody answers in time is an error in the handler", async () => {
  await worker.serve({
    ask: async (_input: unknown, ctx) =>
      ctx.ask("anybody?", { within: "200ms" }).catch((error: { reason: string }) => error.reason),
  });
  expect(await (await sender.send("ask", null)).result()).toBe("unanswered");
});

test("a cancel ends the wait for an answer", async () => {
  const ended = gate<unknown>();
  await worker.serve({
    ask: (_input: unknown, ctx) =>
      ctx.ask("anybody?").catch((error: unknown) => {
        ended.resolve(error);
        throw error;
      }),
  });
  const handle = await sender.send("ask", null, { lease: "1h" });
  for await (const _question of sender.questions()) break;
  await handle.cancel();
  expect(await ended.promise).toMatchObject({ code: 410 });
});
