/** What a person types, line by line: also what was pasted at once, before the questions were asked. */

import { createInterface } from "node:readline";
import { CliError } from "../errors.ts";

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (reason: unknown) => void;
}

export class Answers {
  readonly #typed: ReturnType<typeof createInterface>;
  /** Typed, and not asked for yet. */
  readonly #ahead: string[] = [];
  readonly #signal: AbortSignal;
  #waiting: Waiting | null = null;
  #isClosed = false;

  constructor(input: NodeJS.ReadableStream, output: NodeJS.WritableStream, signal: AbortSignal) {
    this.#signal = signal;
    this.#typed = createInterface({ input, output });
    this.#typed.on("line", (line) => this.#take(line));
    this.#typed.on("close", () => this.#close(noMore()));
    signal.addEventListener("abort", () => this.#close(signal.reason), { once: true });
  }

  ask(question: string): Promise<string> {
    this.#typed.setPrompt(`${question} `);
    if (!this.#isClosed) this.#typed.prompt();
    const line = this.#ahead.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#isClosed) return Promise.reject(this.#signal.aborted ? this.#signal.reason : noMore());
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  close(): void {
    this.#typed.close();
  }

  #take(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) this.#ahead.push(line);
    else waiting.resolve(line);
  }

  #close(reason: unknown): void {
    this.#isClosed = true;
    this.#waiting?.reject(reason);
    this.#waiting = null;
  }
}

function noMore(): CliError {
  return new CliError("usage", "The answers ended before the questions did; nothing was written.", "Answer them all.");
}
