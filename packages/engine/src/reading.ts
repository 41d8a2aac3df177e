/**
 * Planning is synchronous: it looks only at what was read before. What turns out to be missing is thrown as `Missing`; whoever
 * plans reads it and plans again from the start. So a plan must change nothing outside of what it makes itself until it has
 * seen everything, and must ask the same each time: what it draws by chance is drawn once. Almost always everything was read
 * ahead, and a batch of hundreds is planned without a pause.
 */

/** Far more than any plan can ask for; a plan that asks for ever new things would never end. */
const most_reads = 100_000;

export class Missing {
  readonly read: () => Promise<void>;

  constructor(read: () => Promise<void>) {
    this.read = read;
  }
}

/** Plans; where something is missing, reads it and plans again. */
export async function planned<T>(plan: () => T): Promise<T> {
  for (let reads = 0; reads < most_reads; reads += 1) {
    try {
      return plan();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      await error.read();
    }
  }
  throw new Error(`a plan was not done after ${most_reads} reads`);
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
