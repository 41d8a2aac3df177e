import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LogSync } from "./log-sync.ts";

let root: string;
let log: LogSync;
/** Syncs that were begun and have not ended. */
let running: ((error: Error | null) => void)[];
let began: number;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "handfast-log-"));
  const file = join(root, "log");
  writeFileSync(file, "");
  running = [];
  began = 0;
  log = new LogSync(file, (_, done) => {
    began += 1;
    running.push(done);
  });
});
afterEach(() => rmSync(root, { recursive: true }));

/** Ends the sync that runs. */
async function end(error: Error | null = null): Promise<void> {
  running.shift()?.(error);
  await new Promise(setImmediate);
}

/** Whether it has settled by now. */
async function isOpen(promise: Promise<void>): Promise<boolean> {
  const open = Symbol("open");
  const first = await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, open))]);
  return first === open;
}

test("what is written while a sync runs waits for the next, which all who came meanwhile share", async () => {
  const first = log.sync();
  const [second, third] = [log.sync(), log.sync()];
  expect(began).toBe(1);
  await end();
  await first;
  expect(began).toBe(2);
  expect(await isOpen(second)).toBe(true);
  await end();
  await Promise.all([second, third]);
  expect(began).toBe(2);
  expect(log.pending).toBeNull();
});

test("two never run at once: the kernel tells of an error to one of them only", async () => {
  const all = Array.from({ length: 5 }, () => log.sync());
  expect(running).toHaveLength(1);
  await end();
  expect(running).toHaveLength(1);
  await end();
  await Promise.all(all);
});

test("after a failure everything fails, also what would have been synced by itself", async () => {
  const first = log.sync();
  const second = log.sync();
  const told = Promise.allSettled([first, second]);
  await end(new Error("EIO"));
  expect(await told).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  await expect(log.sync()).rejects.toThrow("EIO");
  await expect(log.pending).rejects.toThrow("EIO");
  expect(began).toBe(1);
  await log.close();
});

test("closing waits for what runs and for what waits", async () => {
  const [first, second] = [log.sync(), log.sync()];
  const closed = log.close();
  await end();
  await first;
  expect(await isOpen(closed)).toBe(true);
  await end();
  await second;
  await closed;
});
