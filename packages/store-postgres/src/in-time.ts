/** Answers that do not come are not waited for. */

import { setTimeout as pause } from "node:timers/promises";
import { PostgresStoreError } from "./errors.ts";
import { answer_timeout_ms } from "./limits.ts";

export function inTime<Answer>(answer: Promise<Answer>, timeout_ms = answer_timeout_ms): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new PostgresStoreError("silent", `The server did not answer for ${timeout_ms / 1_000} seconds.`));
    }, timeout_ms);
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

/** For what may well take long: whoever looks around meanwhile says that it will not come, by failing. */
export async function watched<Answer>(
  answer: Promise<Answer>,
  every_ms: number,
  lookAround: () => Promise<unknown>,
): Promise<Answer> {
  let is_over = false;
  const over = answer.finally(() => {
    is_over = true;
  });
  // It is told where it is waited for, below.
  over.catch(() => {});
  for (;;) {
    await Promise.race([over, pause(every_ms, undefined, { ref: false })]);
    if (is_over) return over;
    await lookAround();
  }
}
