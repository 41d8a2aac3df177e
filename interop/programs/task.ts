/** The work of the suite, done by hand, for programs in TypeScript; frameworks do it in their own way around this. */

import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "@handfast/client";
import { holding_note, type TaskInput, type TaskOutput } from "../protocol.ts";

const look_every_ms = 20;

export async function doTask({ text, mode, hold }: TaskInput, by: string, ctx: Context): Promise<TaskOutput> {
  if (mode === "hold" && hold !== undefined) await holdOn(hold, ctx);
  const answer = mode === "ask" ? await ctx.ask({ word: "which?" }, { schema: { type: "string" } }) : undefined;
  return { text: text.toUpperCase(), by, ...(answer === undefined ? {} : { answer: String(answer) }) };
}

async function holdOn(hold: string, { progress, signal }: Context): Promise<void> {
  progress(0.5, holding_note);
  writeFileSync(`${hold}.begun`, "");
  try {
    while (!existsSync(`${hold}.go`)) await sleep(look_every_ms, undefined, { signal });
  } catch (error) {
    writeFileSync(`${hold}.stopped`, "");
    throw error;
  }
}
