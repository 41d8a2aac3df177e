import { expect, it } from "vitest";
import { iterable } from "./iterable.ts";
import { orAborted } from "./or-aborted.ts";

function endless(done: string[]) {
  return async function* (signal: AbortSignal) {
    try {
      yield 1;
      await orAborted(new Promise(() => {}), signal);
    } finally {
      done.push("freed");
    }
  };
}

it("frees everything when its loop is left", async () => {
  const done: string[] = [];
  for await (const value of iterable(endless(done))) {
    expect(value).toBe(1);
    break;
  }
  expect(done).toEqual(["freed"]);
});

it("lets go also of a value that is still waited for", async () => {
  const done: string[] = [];
  const iterator = iterable(endless(done))[Symbol.asyncIterator]();
  await iterator.next();
  const pending = iterator.next();
  await iterator.return?.();
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(done).toEqual(["freed"]);
});

it("rejects with the reason of a signal that aborts", async () => {
  const controller = new AbortController();
  const iterator = iterable(endless([]), controller.signal)[Symbol.asyncIterator]();
  await iterator.next();
  const pending = iterator.next();
  controller.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
});
