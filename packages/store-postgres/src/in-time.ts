/** Answers that do not come are not waited for. */

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
