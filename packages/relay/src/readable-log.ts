/** The log for people: `12:03:04 warn  what happened  key=value`, out of the lines of JSON that pino writes. */

import { stripVTControlCharacters } from "node:util";
import type { DestinationStream } from "pino";

const levels: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

export function readableLog(sink: { write(text: string): unknown }): DestinationStream {
  return { write: (line) => void sink.write(`${readableLine(line)}\n`) };
}

function readableLine(line: string): string {
  const { level, time, msg = "", err, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const more = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const stack = typeof err === "object" && err !== null && "stack" in err ? `\n${String(err.stack)}` : "";
  const words = [clock, (levels[Number(level)] ?? "").padEnd(5), String(msg), ...more].join(" ");
  // What callers sent may be in it, and must not steer the terminal.
  return (
    stripVTControlCharacters(words)
      .replaceAll(/\p{Cc}/gu, " ")
      .trimEnd() + stack
  );
}
