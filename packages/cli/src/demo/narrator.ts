/** How the demo tells its story: readable lines, or with --json one event per line. */

import type { HandoffEvent } from "@handfast/client";
import type { Style } from "../style.ts";
import type { Terminal } from "../terminal.ts";
import type { Show } from "./step.ts";

const indent = "    ";
const colours: Readonly<Record<string, Style>> = {
  completed: "green",
  acknowledged: "green",
  failed: "red",
  expired: "red",
  requeued: "yellow",
  asked: "yellow",
};

export class Narrator implements Show {
  readonly #terminal: Terminal;
  #step = "";
  #began_at = 0;
  #is_piece_open = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  begin(name: string, number: number, title: string): void {
    this.#step = name;
    this.#terminal.print(`\n${this.#terminal.style("bold", `${number}  ${title}`)}`);
  }

  end(is_ok: boolean, took_ms: number, why?: string): void {
    this.piece("");
    const took = `${(took_ms / 1_000).toFixed(1)} s`;
    if (this.#terminal.json) {
      this.#terminal.jsonLine({ step: this.#step, ok: is_ok, took_ms: Math.round(took_ms), ...(why && { why }) });
      return;
    }
    const mark = is_ok ? this.#terminal.style("green", "✓") : this.#terminal.style("red", `✗ ${why ?? ""}`);
    this.#terminal.print(`${indent}${mark} ${this.#terminal.style("dim", took)}`);
  }

  line(text: string): void {
    this.#terminal.print(indent + text);
  }

  piece(text: string): void {
    if (this.#terminal.json) return;
    if (text === "") {
      if (this.#is_piece_open) this.#terminal.raw("\n");
      this.#is_piece_open = false;
      return;
    }
    this.#terminal.raw(this.#is_piece_open ? text : indent + text);
    this.#is_piece_open = true;
  }

  event(event: HandoffEvent): void {
    if (this.#terminal.json) {
      this.#terminal.jsonLine({ step: this.#step, event });
      return;
    }
    if (event.seq === 1) this.#began_at = event.at;
    const told = { ...event } as HandoffEvent & Details;
    const after = `+${event.at - this.#began_at} ms`.padStart(9);
    const code = told.code === undefined || told.code === null ? "   " : String(told.code);
    const type = this.#terminal.style(colours[event.type] ?? "cyan", event.type.padEnd(13));
    this.#terminal.print(`${indent}${this.#terminal.style("dim", after)}  ${code} ${type}${describe(told)}`);
  }
}

/** What some events say beyond their type. */
interface Details {
  readonly code?: number | null;
  readonly worker?: string | null;
  readonly agent?: string | null;
  readonly fence?: number | null;
  /** Of a requeue its reason; of a delivery, as an object, why it went there: `show` tells that. */
  readonly why?: unknown;
  readonly number?: number;
  readonly evidence?: string;
  readonly by?: string | null;
}

function describe({ worker, agent, fence, why, number, evidence, by }: Details): string {
  const who = worker ?? agent ?? by ?? undefined;
  const parts = [
    typeof why === "string" ? why.replaceAll("_", " ") : undefined,
    who === undefined ? undefined : `by ${who}`,
    typeof fence === "number" ? `fence ${fence}` : undefined,
    number === undefined ? undefined : `checkpoint ${number}`,
    evidence === undefined ? undefined : evidence === "relay" ? "by the relay itself" : evidence,
  ];
  return parts.filter((part) => part !== undefined).join(" · ");
}
