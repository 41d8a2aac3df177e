/** The export of the log, line by line, over either transport. */

import { Broken, parseJson, shown } from "../broken.ts";
import type { Answer } from "../caller/link.ts";
import type { LoggedEvent } from "./caller.ts";

export interface LogLine {
  readonly pos: number;
  readonly cursor: string;
  readonly event: LoggedEvent;
  readonly payload?: unknown;
}

/** HTTP brings it as text, a WebSocket as bytes. */
export function readLogLines({ status, text, bytes, body }: Answer): readonly LogLine[] {
  if (status !== 200) throw new Broken("the log", `${status} ${shown(body)}`);
  const whole = text ?? new TextDecoder().decode(bytes ?? new Uint8Array());
  return whole
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const read = parseJson(line, "a line of the log");
      if (isLogLine(read)) return read;
      throw new Broken("a line of the log with pos, cursor and event", line);
    });
}

function isLogLine(value: unknown): value is LogLine {
  const { pos, cursor, event }: { pos?: unknown; cursor?: unknown; event?: unknown } = Object(value);
  return typeof pos === "number" && typeof cursor === "string" && typeof event === "object" && event !== null;
}
