/** What happens, as it happens: one line for each event of the correlation. */

import type { Client } from "@handfast/client";
import type { StoryEvent } from "../../packages/cli/src/inspect/story-event.ts";
import type { Style } from "../../packages/cli/src/style.ts";
import type { Terminal } from "../../packages/cli/src/terminal.ts";
import { cut } from "../../packages/cli/src/text.ts";

const wait_ms = 30_000;
const output_chars = 64;
/** Cells of a line that come before its words, and how many these have on a narrow terminal. */
const before_words = 40;
const words_least = 40;
const colours: Readonly<Record<string, Style>> = {
  accepted: "cyan",
  completed: "green",
  acknowledged: "green",
  requeued: "yellow",
  asked: "yellow",
  answered: "yellow",
  KILLED: "red",
  failed: "red",
  expired: "red",
};
/** What a reader can do without: a delivery is followed by its ack, an outcome by its taking. */
const untold = new Set(["delivered", "taken"]);

/** From the beginning of a correlation until everything in it has ended. */
export async function* eventsOf(operator: Client, id: string): AsyncGenerator<StoryEvent> {
  let cursor: string | undefined;
  for (;;) {
    const query = cursor === undefined ? {} : { cursor };
    const page = await operator.call("correlation_events", { params: { id }, query }, { wait_ms });
    yield* page.events;
    if (page.ended) return;
    cursor = page.cursor;
  }
}

export class Timeline {
  readonly #terminal: Terminal;
  readonly #operator: Client;
  readonly #frameworks: ReadonlyMap<string, string>;
  /** Capabilities of handoffs, as far as they lie below the first one. */
  readonly #names = new Map<string, string>();
  #began_at: number | null = null;

  constructor(terminal: Terminal, operator: Client, frameworks: ReadonlyMap<string, string>) {
    this.#terminal = terminal;
    this.#operator = operator;
    this.#frameworks = frameworks;
  }

  async tell(event: StoryEvent): Promise<void> {
    const { type, handoff, at, code, capability, causation_id } = event;
    this.#began_at ??= at;
    if (type === "accepted") this.#names.set(handoff, `${causation_id ? "  " : ""}${capability}`);
    if (!untold.has(type)) this.line(at, code, type, this.#names.get(handoff) ?? "", await this.#words(event));
  }

  killed(worker: string, handoff: string): void {
    this.line(
      Date.now(),
      null,
      "KILLED",
      this.#names.get(handoff) ?? "",
      `${worker} with SIGKILL, in the middle of it`,
    );
  }

  line(at: number, code: number | null | undefined, type: string, name: string, words: string): void {
    const after = `+${((at - (this.#began_at ?? at)) / 1_000).toFixed(1)} s`.padStart(8);
    const styled = this.#terminal.style(colours[type] ?? "dim", type.padEnd(13));
    const time = this.#terminal.style("dim", after);
    const { edge } = this.#terminal;
    const told = edge === null ? words : cut(words, Math.max(edge - before_words, words_least));
    this.#terminal.print(`${time}  ${String(code ?? "").padEnd(3)} ${styled} ${name.padEnd(11)} ${told}`);
  }

  async #words(event: StoryEvent): Promise<string> {
    const { type, agent, worker, fence = 0, evidence, by, number, question = "", why = "", from, handoff } = event;
    const who = `by ${worker ?? agent ?? by} (${this.#frameworks.get(agent ?? "") ?? "?"})`;
    switch (type) {
      case "accepted":
        return `from ${from}, ${evidence}`;
      case "acknowledged":
        return `${who}, ${evidence}${(fence ?? 0) > 1 ? `, takes over: fence ${fence}` : ""}`;
      case "checkpointed":
        return `number ${number}, fence ${fence}`;
      case "asked":
        return `by ${agent}: ${JSON.stringify((await this.#question(question)).question)}`;
      case "answered":
        return `by ${by}: ${JSON.stringify((await this.#question(question)).answer)}, ${evidence}`;
      case "requeued":
        return typeof why === "string" ? why.replaceAll("_", " ") : "";
      case "completed":
        return `${who}, ${evidence}: ${cut(await this.#output(handoff), output_chars)}`;
      default:
        return evidence === "relay" ? "by the relay itself" : `${who}, ${evidence}`;
    }
  }

  async #output(id: string): Promise<string> {
    const { outcome } = await this.#operator.call("get", { params: { id } });
    return JSON.stringify(outcome?.output);
  }

  #question(id: string) {
    return this.#operator.call("question", { params: { id } });
  }
}
