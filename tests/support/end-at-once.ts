/**
 * What a long run leaves when it is ended from outside: nothing. Ctrl-C, SIGTERM, a terminal that is closed, and output
 * that nobody reads any more (`| head`) end it at once, and its processes and folders go with it.
 */

import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { constants } from "node:os";

const children = new Set<ChildProcess>();
const folders = new Set<string>();

process.on("exit", endChildren);

/** Whoever started it and exits, however, takes it along. */
export function endsWithUs(child: ChildProcess): void {
  children.add(child);
  child.once("close", () => children.delete(child));
}

/** Removed when we are ended from outside; the answer calls that off. */
export function goesWithUs(folder: string): () => void {
  folders.add(folder);
  return () => void folders.delete(folder);
}

/** From now on. Before anybody else listens: a client that serves would rather end in order, and with 0. */
export function endWhenTold(): void {
  // Not once: npm passes a Ctrl-C on that we have got already, and a second one must not interrupt the first.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(signal));
  process.stdout.on("error", () => end("SIGPIPE"));
}

function end(signal: NodeJS.Signals): never {
  endChildren();
  // Registered now, and so the last of what happens at an exit: nobody writes into the folders any more.
  process.on("exit", removeFolders);
  process.exit(128 + constants.signals[signal]);
}

function endChildren(): void {
  for (const child of children) child.kill("SIGKILL");
}

function removeFolders(): void {
  // One that was just killed may still finish a write.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
