/** `handfast test-relay`: a relay whose clock another program turns, for the test kits of other languages. */

import { createInterface } from "node:readline";
import type { Command, Context } from "../command.ts";
import { CliError, tell } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { type Order, readOrder } from "./orders.ts";
import { Session } from "./session.ts";

const default_start = "2026-01-01T00:00:00Z";
const default_seed = 1;
/** How often it looks whether whoever started it is still there. */
const parent_check_ms = 1_000;

export const testRelayCommand: Command = {
  name: "test-relay",
  summary: "Runs a relay whose clock a test turns, for test kits of any language.",
  description: `A whole relay on a free port of this machine, in development mode, that keeps everything in memory. Its clock stands still until it is told to move, and its chance is the same in every run.
Orders are read from stdin, one JSON object a line, and each is answered on stdout by one line, when the relay has come to rest. The first line tells where it is: "url", the "name" by which documents may name it, so that they are the same in every run, and the "operator_token".
Every answer has "now" and "next" (when the relay's next timer goes off, or null; milliseconds since 1970), "running", "parked" (how many calls wait for time to pass or for other calls) and "calls" (those of them that came with the header Handfast-Test-Call, by its value: how many bytes of the answer were sent). What is wrong with an order is answered by "error". docs/testing.md tells how a kit uses it.
  {"do":"settle"}: lets everything come to rest
  {"do":"run","to":1767225660000}: lets time pass, each timer at its own moment
  {"do":"pause"}, {"do":"resume"}: the relay stops, and starts again on what it knew; with "empty":true it knows nothing
  {"do":"restart"}, {"do":"restart_empty"}: both at once, with "down_ms" between them
  {"do":"events"}: the whole log, oldest first, or with "handoff" what happened to that one
  {"do":"reset"}: a new relay with nothing of the old one, on another port; with another "seed" or "start_at" (in milliseconds)
  {"do":"stop"}: it ends, as it does when stdin ends or when whoever started it is gone`,
  options: [
    { flags: "--seed <number>", help: "Of all chance in the relay.", default: String(default_seed) },
    { flags: "--start-at <moment>", help: "When its time begins.", default: default_start },
  ],
  examples: [
    { line: "test-relay", help: "By hand: type an order and see what is answered" },
    { line: "test-relay --seed 7 --start-at 2030-05-01T12:00:00Z", help: "Another chance, another time" },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, signal, options } = context;
  // Before anything is said: whoever started it may be killed as soon as it has heard something.
  const parent = process.ppid;
  const start_at = momentOf(options.text("start-at") ?? default_start);
  const seed = options.number("seed", 0, Number.MAX_SAFE_INTEGER) ?? default_seed;
  let session = await Session.start({ start_at, seed });
  terminal.jsonLine(await session.introduction());
  if (signal.aborted) {
    await session.stop();
    return "interrupted";
  }
  // Not before: lines that come while nobody waits for one are lost, and so is their end.
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const close = () => lines.close();
  signal.addEventListener("abort", close, { once: true });
  const stopWatching = whenAbandoned(parent, close);
  try {
    for await (const line of lines) {
      const order = orderIn(line, terminal);
      if (order?.do === "stop") break;
      if (order === null) continue;
      try {
        if (order.do === "reset") session = await session.restarted(order);
        terminal.jsonLine(order.do === "reset" ? await session.introduction() : await session.obey(order));
      } catch (error) {
        complain(error, terminal);
      }
    }
  } finally {
    stopWatching();
    signal.removeEventListener("abort", close);
    close();
    await session.stop();
  }
  return signal.aborted ? "interrupted" : "ok";
}

/** Null: it is none, and whoever wrote it was told. */
function orderIn(line: string, terminal: Terminal): Order | null {
  try {
    return readOrder(line);
  } catch (error) {
    complain(error, terminal);
    return null;
  }
}

function complain(error: unknown, terminal: Terminal): void {
  const { message, remedy } = tell(error);
  terminal.jsonLine({ error: { message, remedy } });
}

/** The end of stdin tells it too, unless another process has inherited the other end and keeps it open. */
function whenAbandoned(parent: number, run: () => void): () => void {
  const timer = setInterval(() => {
    if (process.ppid !== parent) run();
  }, parent_check_ms);
  timer.unref();
  return () => clearInterval(timer);
}

function momentOf(text: string): number {
  const at = Date.parse(text);
  if (at >= 0) return at;
  throw new CliError("usage", `--start-at is ${JSON.stringify(text)}.`, `Give a moment such as ${default_start}.`);
}
