/** `Prefer` (RFC 7240): how long, in seconds, the caller is willing to wait, and how much it wants to see. */

import { limits } from "../../limits.ts";
import { Problem } from "../../problem.ts";

type Header = string | string[] | undefined;

/** 0 where nothing was asked for. Longer than allowed is shortened, not refused: it is a preference. */
export function waitOf(header: Header): number {
  const seconds = preference(header, "wait");
  if (seconds === null) return 0;
  if (!/^[0-9]{1,9}$/.test(seconds)) {
    const shown = JSON.stringify(seconds);
    throw new Problem(400, "prefer_wait", `Prefer: wait takes whole seconds, not ${shown}.`, { fields: ["Prefer"] });
  }
  return Math.min(Number(seconds) * 1_000, limits.long_poll_ms);
}

/** `return=minimal`; any other is no preference of ours. */
export function isMinimal(header: Header): boolean {
  return preference(header, "return") === "minimal";
}

/** The first of this name; null where there is none. */
function preference(header: Header, wanted: string): string | null {
  if (header === undefined) return null;
  const text = Array.isArray(header) ? header.join(",") : header;
  for (const each of text.split(",")) {
    const [name, value = ""] = (each.split(";", 1)[0] ?? "").split("=", 2).map((part) => part.trim());
    if (name?.toLowerCase() === wanted) return value.replace(/^"(.*)"$/, "$1");
  }
  return null;
}
