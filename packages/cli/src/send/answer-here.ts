/** A question put to the sender, answered where it waits: only where a person sits at both ends of the terminal. */

import { createInterface, type Interface } from "node:readline/promises";
import { parseStrict } from "@handfast/protocol/client";
import type { QuestionView } from "@handfast/protocol/wire";
import { answerFault } from "../inspect/answer-fit.ts";
import type { Terminal } from "../terminal.ts";
import type { Following } from "./follow.ts";
import { wantsText } from "./news-words.ts";

const depth_most = 64;

export class AnswerHere {
  readonly #following: Following;
  readonly #question: QuestionView;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;

  constructor(following: Following, question: QuestionView, signal: AbortSignal) {
    this.#following = following;
    this.#question = question;
    this.#signal = AbortSignal.any([signal, this.#over.signal]);
  }

  static isPossible(terminal: Terminal): boolean {
    return terminal.isLive && process.stdin.isTTY === true;
  }

  /** Until there is an answer that fits, an empty line, or an answer from elsewhere. */
  async ask(): Promise<void> {
    const { timeline } = this.#following;
    timeline.breakText();
    timeline.pause();
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    // The terminal is in raw mode while it asks: Ctrl-C means what it means everywhere.
    prompt.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    try {
      await this.#answer(prompt);
    } catch (error) {
      if (!this.#signal.aborted) timeline.tell(error instanceof Error ? error.message : String(error));
    } finally {
      prompt.close();
      if (!this.#signal.aborted) timeline.resume();
    }
  }

  async #answer(prompt: Interface): Promise<void> {
    const { client, terminal } = this.#following;
    for (;;) {
      const line = await prompt.question("your answer (empty: later) > ", { signal: this.#signal });
      if (line.trim() === "") return;
      const read = readAnswer(line.trim(), this.#question.schema);
      if ("fault" in read) terminal.note(`That does not fit: ${read.fault}.`);
      else {
        await client.answer(this.#question.id, read.value, { signal: this.#signal });
        return;
      }
    }
  }

  /** It was answered elsewhere, or is over. */
  close(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
  }
}

/** Text where that is wanted, else JSON; what is no JSON is text where the question does not say what it expects. */
export function readAnswer(line: string, schema: unknown): { readonly value: unknown } | { readonly fault: string } {
  const parsed = wantsText(schema) ? null : parseStrict(line, { max_depth: depth_most });
  if (parsed !== null && !parsed.ok && schema !== undefined) return { fault: "it is not JSON" };
  const value: unknown = parsed?.ok ? parsed.value : line;
  const fault = answerFault(value, schema);
  return fault === null ? { value } : { fault };
}
