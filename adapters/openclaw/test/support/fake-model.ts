/**
 * A model that says what the test wants, behind the interface of OpenAI's chat completions. A conversation is known by a
 * word in it; each side of a handoff, its sender and its worker, has a script of its own.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer =
  | { readonly text: string }
  | { readonly calls: readonly { readonly name: string; readonly args: object }[] }
  /** Nothing comes, until the caller goes away. */
  | { readonly hangs: true }
  | { readonly status: number };

/** One call of the model. */
export interface ModelCall {
  /** Everything that was said since the model spoke last: by the user, and by tools. */
  readonly news: string;
  readonly results: readonly string[];
  readonly tools: readonly string[];
  /** The whole conversation. */
  readonly all: string;
  /** How many calls of this script came before. */
  readonly number: number;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

type Script = (call: ModelCall) => Answer | Promise<Answer>;

interface Wire {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string | readonly { readonly text?: string }[] | null;
    readonly tool_calls?: readonly object[];
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export class FakeModel {
  readonly #server: Server;
  readonly #scripts = new Map<string, { script: Script; calls: ModelCall[] }>();
  /** Conversations that no script was for. */
  readonly unknown: string[] = [];
  #callIds = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<FakeModel> {
    const model = new FakeModel();
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** What the model says in conversations with this word, as the sender of handoffs. */
  sends(word: string, script: Script): void {
    this.#scripts.set(`sends ${word}`, { script, calls: [] });
  }

  /** What it says when it works on a handoff in which this word is. */
  works(word: string, script: Script): void {
    this.#scripts.set(`works ${word}`, { script, calls: [] });
  }

  calls(side: "sends" | "works", word: string): readonly ModelCall[] {
    return this.#scripts.get(`${side} ${word}`)?.calls ?? [];
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const wire: Wire = JSON.parse(body);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answer = await this.#answer(wire, gone.signal);
    if ("hangs" in answer) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      return;
    }
    if ("status" in answer) {
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "the model is not well", type: "server_error" } }));
      return;
    }
    this.#stream(response, answer);
  }

  async #answer({ messages, tools = [] }: Wire, signal: AbortSignal): Promise<Answer> {
    const texts = messages.filter(({ role }) => role !== "system" && role !== "developer").map(textOf);
    const all = texts.join("\n");
    const side = all.includes("Handoff 0") ? "works" : "sends";
    const found = [...this.#scripts].find(([name]) => name.startsWith(`${side} `) && all.includes(name.slice(6)));
    if (found === undefined) {
      this.unknown.push(all);
      return { text: "ok" };
    }
    const [, { script, calls }] = found;
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    const since = messages.slice(last + 1);
    const call: ModelCall = {
      news: since.map(textOf).join("\n"),
      results: since.filter(({ role }) => role === "tool").map(textOf),
      tools: tools.map((tool) => tool.function.name),
      all,
      number: calls.length,
      signal,
    };
    calls.push(call);
    return script(call);
  }

  #stream(response: ServerResponse, answer: Exclude<Answer, { hangs: true } | { status: number }>): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (delta: object, finish_reason: string | null) => {
      const choices = [{ index: 0, delta, finish_reason }];
      const chunk = { id: "c1", object: "chat.completion.chunk", created: 0, model: "fake-1", choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    if ("text" in answer) {
      say({ role: "assistant", content: answer.text }, null);
      say({}, "stop");
    } else {
      const tool_calls = answer.calls.map(({ name, args }, index) => {
        this.#callIds += 1;
        return {
          index,
          id: `call_${this.#callIds}`,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        };
      });
      say({ role: "assistant", content: null, tool_calls }, null);
      say({}, "tool_calls");
    }
    response.end("data: [DONE]\n\n");
  }
}

function textOf({ content }: Wire["messages"][number]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
}

export function call(name: string, args: object): Answer {
  return { calls: [{ name, args }] };
}
