/** What every party's process has in common: how it is told what to do, says that it is ready, and is let go. */

import { flushCompileCache } from "node:module";
import { argv, exit, stdin, stdout } from "node:process";
import { createInterface } from "node:readline";

export interface PartySettings {
  readonly url: string;
  readonly agent: string;
  /** Among the workers of its agent. */
  readonly worker: string;
  readonly transport: "websocket" | "http";
  /** Of one that speaks plain HTTP. */
  readonly token: string;
  readonly journal: string;
  /** Where its key is kept. */
  readonly home: string;
}

export function readSettings(): PartySettings {
  return JSON.parse(argv[2] ?? "");
}

export function sayReady(): void {
  // Kept only at an exit, which a party that is killed never has.
  flushCompileCache();
  stdout.write("ready\n");
}

/** Resolves when whoever started this process wants no more; a party whose starter is gone ends too. */
export function toldToFinish(): Promise<void> {
  const lines = createInterface({ input: stdin });
  return new Promise((resolve) => {
    lines.on("line", (line) => line === "finish" && resolve());
    lines.on("close", () => exit(1));
  });
}
