/** One thing at a time, and whoever has the turn has it. */

import { expect, test } from "vitest";
import { inTurn, type Lock } from "./turns.ts";

test("the next begins when the one before has ended, however it ended", async () => {
  const heard: string[] = [];
  const { promise: ended, reject: end } = Promise.withResolvers<void>();
  const first = inTurn("a", () => ended.finally(() => heard.push("first")));
  const second = inTurn("a", async () => heard.push("second"));
  const other = inTurn("b", async () => heard.push("other"));
  await other;
  end(new Error("it failed"));
  await expect(first).rejects.toThrow("it failed");
  await second;
  expect(heard).toEqual(["other", "first", "second"]);
});

test("whoever has the turn may ask for it again, below other turns too", async () => {
  const nested = inTurn("a", () => inTurn("b", () => inTurn("a", async () => "inside")));
  expect(await nested).toBe("inside");
});

test("a turn that is over is not had by what it left behind", async () => {
  let held = 0;
  const lock: Lock = (_, run) => {
    held += 1;
    return run();
  };
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let behind: Promise<void> = Promise.resolve();
  await inTurn(
    "a",
    async () => {
      behind = left.then(() => inTurn("a", async () => {}, lock));
    },
    lock,
  );
  leave();
  await behind;
  expect(held).toBe(2);
});
