/** `Prefer: wait=N` (RFC 7240): how long, in seconds, the caller is willing to wait. */

import { limits } from "../../limits.ts";
import { Problem } from "../../problem.ts";

/** 0 where nothing was asked for. Longer than allowed is shortened, not refused: it is a preference. */
export function waitOf(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  for (const preference of text.split(",")) {
    const [name, value] = (preference.split(";", 1)[0] ?? "").split("=", 2).map((part) => part.trim());
    if (name?.toLowerCase() !== "wait") continue;
    const seconds = value?.replace(/^"(.*)"$/, "$1") ?? "";
    if (!/^[0-9]{1,9}$/.test(seconds)) {
      const shown = JSON.stringify(value ?? "");
      throw new Problem(400, "prefer_wait", `Prefer: wait takes whole seconds, not ${shown}.`, { fields: ["Prefer"] });
    }
    return Math.min(Number(seconds) * 1_000, limits.long_poll_ms);
  }
  return 0;
}
