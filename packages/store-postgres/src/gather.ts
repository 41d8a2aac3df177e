/**
 * Questions put one by one, asked of the server in one statement: a round trip costs more than its answers. Those of the same moment go
 * together at once; while as many statements are under way as may be, what comes gathers for the next.
 */

interface Waiting<Question, Answer> {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class Gather<Question, Answer> {
  readonly #askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  readonly #at_once: number;
  #waiting: Waiting<Question, Answer>[] = [];
  #under_way = 0;

  /** Answers come in the order of the questions. */
  constructor(
    askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    at_once: number = Number.POSITIVE_INFINITY,
  ) {
    this.#askAll = askAll;
    this.#at_once = at_once;
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0 || this.#under_way >= this.#at_once) return;
    const asked = this.#waiting;
    this.#waiting = [];
    this.#under_way += 1;
    try {
      const answers = await this.#askAll(asked.map(({ question }) => question));
      for (const [index, { resolve, reject }] of asked.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new TypeError("a question went without an answer"));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      this.#under_way -= 1;
    }
    void this.#flush();
  }
}
