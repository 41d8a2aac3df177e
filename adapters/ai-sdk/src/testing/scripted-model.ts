/** A model that says what it is told to, for tests: text, calls of tools, or an error. */

import { MockLanguageModelV4 } from "ai/test";

type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
export type Word =
  | string
  | Error
  | readonly Call[]
  | { readonly text: string; readonly ends: Result["finishReason"]["unified"] };
type Call = readonly [id: string, tool: string, input: unknown];

export function scriptedModel(...words: readonly Word[]): MockLanguageModelV4 {
  const left = [...words];
  return new MockLanguageModelV4({
    doGenerate: async ({ abortSignal }) => {
      abortSignal?.throwIfAborted();
      const word = left.shift() ?? "I have nothing more to say.";
      if (word instanceof Error) throw word;
      return said(word);
    },
  });
}

/** One that never answers. */
export function silentModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: ({ abortSignal }) =>
      new Promise((_, reject) => abortSignal?.addEventListener("abort", () => reject(abortSignal.reason))),
  });
}

function said(word: Exclude<Word, Error>): Result {
  const usage = {
    inputTokens: { total: 5, noCache: 5, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  };
  if (typeof word === "string" || "ends" in word) {
    const { text, ends } = typeof word === "string" ? { text: word, ends: "stop" as const } : word;
    return { content: [{ type: "text", text }], finishReason: { unified: ends, raw: undefined }, usage, warnings: [] };
  }
  const content = word.map(([toolCallId, toolName, input]) => ({
    type: "tool-call" as const,
    toolCallId,
    toolName,
    input: JSON.stringify(input),
  }));
  return { content, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
}
