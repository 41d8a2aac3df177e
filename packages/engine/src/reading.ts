/**
 * Planning is synchronous: it looks only at what was read before. What turns out to be missing is thrown as `Missing`; whoever
 * plans reads it and plans again from the start. So a plan must change nothing outside of what it makes itself until it has
 * seen everything. Almost always everything was read ahead, and a batch of hundreds is planned without a pause.
 */

export class Missing {
  readonly read: () => Promise<void>;

  constructor(read: () => Promise<void>) {
    this.read = read;
  }
}

/** Plans; where something is missing, reads it and plans again. */
export async function planned<T>(plan: () => T): Promise<T> {
  for (;;) {
    try {
      return plan();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      await error.read();
    }
  }
}

/** One kind of question to the store, each asked once. A question that failed fails where its answer is looked at. */
export class Answers<Value> {
  #answers: Map<string, { readonly value: Value } | { readonly error: unknown }> | null = null;

  get(question: string, ask: () => Promise<Value>): Value {
    const answer = this.#answers?.get(question);
    if (answer === undefined) throw new Missing(() => this.read(question, ask));
    if ("error" in answer) throw answer.error;
    return answer.value;
  }

  async read(question: string, ask: () => Promise<Value>): Promise<void> {
    const answer = await ask().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    this.#answers ??= new Map();
    this.#answers.set(question, answer);
  }
}
