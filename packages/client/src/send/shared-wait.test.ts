import { expect, it } from "vitest";
import { SharedWait } from "./shared-wait.ts";

const never = new AbortController().signal;

it("begins once for many and keeps what it came to", async () => {
  let begun = 0;
  const wait = new SharedWait(async () => ++begun);
  expect(await Promise.all([wait.join(never), wait.join(never)])).toEqual([1, 1]);
  expect(await wait.join(never)).toBe(1);
});

it("is given up when the last who waits has gone, and not before", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const wait = new SharedWait<number>((signal) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const one = wait.join(first.signal).catch((error: unknown) => error);
  const two = wait.join(second.signal).catch((error: unknown) => error);
  first.abort("one goes");
  expect(await one).toBe("one goes");
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  second.abort("two goes");
  expect(await two).toBe("two goes");
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
});

it("begins anew after a failure", async () => {
  let begun = 0;
  const wait = new SharedWait(async () => {
    begun += 1;
    if (begun === 1) throw new Error("away");
    return begun;
  });
  await expect(wait.join(never)).rejects.toThrow("away");
  expect(await wait.join(never)).toBe(2);
});

it("is not given up while somebody waits who came without a signal", async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const signals: (AbortSignal | undefined)[] = [];
  const wait = new SharedWait((signal) => {
    signals.push(signal);
    return promise;
  });
  const leaving = new AbortController();
  const one = wait.join(leaving.signal).catch((error: unknown) => error);
  const two = wait.join();
  leaving.abort("one goes");
  expect(await one).toBe("one goes");
  resolve(7);
  expect(await two).toBe(7);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
});
