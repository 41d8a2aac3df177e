/** The name of a question that a graph asks: the same in every attempt, so that it is asked once. */

import { createHash } from "node:crypto";

export function questionId(interrupt: string, value: unknown): string {
  const text = `${interrupt}\n${JSON.stringify(value) ?? ""}`;
  return `langgraph-${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
}
