/**
 * The agents of the demo: one program, started as many processes. Each offers what its role names, says "ready", and
 * works until it is stopped or killed.
 */

import { argv, env, exit, stderr, stdout } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { type Client, type Context, connect, type Server } from "@handfast/client";

const part_ms = 350;
const parts = ["Question", "Sources", "Findings", "Doubts", "Summary"];

interface Part {
  readonly title: string;
  readonly by: string;
}

/** Who wrote each part: shows what a second worker took over and what it did not do again. */
async function report({ topic }: { readonly topic: string }, ctx: Context, worker: string) {
  const written: Part[] = [...((ctx.previous.checkpoint as Part[] | null) ?? [])];
  for (const title of parts.slice(written.length)) {
    ctx.progress(written.length / parts.length, `${title} of ${topic}`);
    await pause(part_ms, undefined, { signal: ctx.signal });
    written.push({ title, by: worker });
    await ctx.checkpoint(written);
  }
  return { topic, parts: written };
}

async function story({ about }: { readonly about: string }, ctx: Context) {
  const words = `Once ${about} was handed over, and nobody had to ask twice where it was.`.split(" ");
  for (const word of words) {
    await pause(60, undefined, { signal: ctx.signal });
    ctx.write(`${word} `);
  }
  return { words: words.length };
}

async function approve({ amount }: { readonly amount: number }, ctx: Context) {
  const answer = await ctx.ask({ text: `Pay ${amount}?` }, { schema: { type: "boolean" }, within: "20s" });
  return { amount, paid: answer === true };
}

const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

function shout(given: unknown): string {
  return (given as { readonly text: string }).text.toUpperCase();
}

const worker = env["DEMO_WORKER"] ?? "worker";
const options = { worker, grace: "2s" } as const;

const roles: Readonly<Record<string, (hf: Client) => Promise<Server>>> = {
  writer: (hf) =>
    hf.serve(
      {
        upper: { input: text, output: text, handler: (given) => ({ text: shout(given) }) },
        square: (given) => Number(given) ** 2,
        story: (given, ctx) => story(given as { about: string }, ctx),
        approve: (given, ctx) => approve(given as { amount: number }, ctx),
      },
      options,
    ),
  reporter: (hf) => hf.serve({ report: (given, ctx) => report(given as { topic: string }, ctx, worker) }, options),
  translator: (hf) => hf.serve({ translate: (given) => ({ text: `${shout(given)} (translated)` }) }, options),
};

const role = roles[argv[2] ?? ""];
if (role === undefined) {
  stderr.write(`There is no role ${argv[2] ?? ""}: it is one of ${Object.keys(roles).join(", ")}.\n`);
  exit(64);
}
await role(await connect());
stdout.write("ready\n");
