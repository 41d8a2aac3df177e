/** Watches the engine decide: counts each command with the state it met, and knows which commands share a commit. */

import type { Command, Decision, Handoff, Time } from "@handfast/core";
import type { RelayTimes } from "../world/relay-times.ts";
import type { Coverage } from "./coverage.ts";
import { type Fault, publicCommands, stateOf } from "./rows.ts";

/** Commands decided so soon after the relay was away count as decided under that fault. */
const soon_ms = 5_000;

const called: ReadonlySet<Command["type"]> = new Set(publicCommands);

interface DecisionsOptions {
  readonly coverage: Coverage;
  readonly times: RelayTimes;
  readonly isDiskLow: () => boolean;
  /** A holder was heard of. */
  readonly onBeat: (id: string, fence: number, now: Time) => void;
}

export class Decisions {
  readonly #options: DecisionsOptions;
  #batch: Command["type"][] = [];
  /** Those of the batch whose commit is under way, or failed last. */
  #committing: readonly Command["type"][] = [];

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  decided(handoff: Handoff | null, command: Command, { refusal }: Decision, now: Time): void {
    const { coverage, times, isDiskLow, onBeat } = this.#options;
    const { type } = command;
    coverage.decided(stateOf(handoff, type, now), type, refusal !== null);
    this.#batch.push(type);
    if (command.type === "beat" && refusal === null) onBeat(handoff?.accepted.id ?? "", command.fence, now);
    if (now - times.restarted_at <= soon_ms) coverage.hit(type, "after restart");
    if (now - times.stalled_at <= soon_ms) coverage.hit(type, "after stall");
    if (now - times.jumped_at <= soon_ms) coverage.hit(type, "after clock jump");
    if (isDiskLow()) coverage.hit(type, "disk low");
  }

  /** A new batch begins: what the last one decided and did not write is over. */
  turn(): void {
    this.#batch.length = 0;
  }

  /** What was decided goes to disk. */
  commit(): readonly Command["type"][] {
    this.#committing = this.#batch;
    this.#batch = [];
    return this.#committing;
  }

  committed(): void {
    this.#committing = [];
  }

  /** Something happened to the commit under way, or to its recovery. */
  hit(fault: Fault): void {
    for (const type of this.#committing) this.#options.coverage.hit(type, fault);
  }

  /** The relay is gone: commands that came by call are counted with their calls. */
  crashed(): void {
    for (const type of [...this.#committing, ...this.#batch]) {
      if (!called.has(type)) this.#options.coverage.hit(type, "relay crash");
    }
    this.#committing = [];
    this.turn();
  }
}
