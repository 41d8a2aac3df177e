/** Questions put one by one in the same moment, asked of the server in one statement: a round trip costs more than its answers. */

interface Waiting<Question, Answer> {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class Gather<Question, Answer> {
  readonly #askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Question, Answer>[] = [];

  /** Answers come in the order of the questions. */
  constructor(askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#askAll = askAll;
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    try {
      const answers = await this.#askAll(asked.map(({ question }) => question));
      for (const [index, { resolve, reject }] of asked.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new TypeError("a question went without an answer"));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
