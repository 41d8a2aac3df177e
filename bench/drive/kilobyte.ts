/** What travels: 1,024 bytes of JSON each way, of text that does not compress. */

import { randomBytes } from "node:crypto";

export interface Kilobyte {
  readonly text: string;
}

const json_bytes = 1_024;
const text_characters = json_bytes - JSON.stringify({ text: "" }).length;

export function makeKilobyte(): Kilobyte {
  return { text: randomBytes(text_characters).toString("base64url").slice(0, text_characters) };
}

/** A handoff whose answer is not the worker's is no handoff. */
export function checkAnswer(answer: unknown, expected: Kilobyte): void {
  const text = typeof answer === "object" && answer !== null && "text" in answer ? answer.text : undefined;
  if (text !== expected.text)
    throw new Error(`the answer is not what the worker said: ${JSON.stringify(answer)?.slice(0, 80)}`);
}
