/** Answers that do not come are not waited for. */

import { PostgresStoreError } from "./errors.ts";
import { answer_timeout_ms } from "./limits.ts";

export function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      const message = `The server did not answer for ${answer_timeout_ms / 1_000} seconds.`;
      reject(new PostgresStoreError("unreachable", message));
    }, answer_timeout_ms);
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
