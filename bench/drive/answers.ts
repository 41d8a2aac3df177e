/** A sender that can only ask whether its jobs are done: one query for all that it waits for, again and again. */

import { oneAtATime } from "./one-at-a-time.ts";

const look_every_ms = 2;

interface Answered {
  readonly id: string;
  readonly output: unknown;
}

export class Answers {
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>();
  readonly #look: () => void;

  constructor(find: (ids: readonly string[]) => Promise<readonly Answered[]>) {
    this.#look = oneAtATime(
      () => this.#lookUntilNoneIsMissing(find),
      (error) => this.fail(error),
    );
  }

  wait(id: string): Promise<unknown> {
    const answered = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answered);
    this.#look();
    return answered.promise;
  }

  readonly fail = (error: unknown): void => {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  };

  async #lookUntilNoneIsMissing(find: (ids: readonly string[]) => Promise<readonly Answered[]>): Promise<void> {
    while (this.#waiting.size > 0) {
      for (const { id, output } of await find([...this.#waiting.keys()])) {
        this.#waiting.get(id)?.resolve(output);
        this.#waiting.delete(id);
      }
      await new Promise((resolve) => setTimeout(resolve, look_every_ms));
    }
  }
}
