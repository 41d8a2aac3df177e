/** A row and a column of the matrix: one framework, or one plain way of speaking to the relay, as sender and as worker. */

import type { SenderCommand, SenderMessage } from "../protocol.ts";
import type { Scenario } from "../scenarios/scenario.ts";

export interface Row {
  /** Short, for the command line and for `by` in an output. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** What it cannot do, each with its reason. A gap is named, never left blank. */
  readonly sender_gaps: Gaps;
  readonly worker_gaps: Gaps;
  /** False: it has a token only, and what it says is attested by the relay. */
  readonly signs: boolean;
  /** It needs nothing that must be installed first, and little time. */
  readonly quick: boolean;
  /** How soon its worker has surely begun with what it was given. */
  readonly begins_within_ms: number;
  /** Handoffs that its worker holds at once. */
  readonly slots: number;
  /** What a reader of the matrix should know of its cells: why they take so long, for one. */
  readonly note?: string;
  /** Installs what it needs. Throws Unavailable where that cannot be had. */
  prepare(say: (line: string) => void): Promise<Prepared>;
}

type Gaps = Partial<Readonly<Record<Scenario, string>>>;

export interface Prepared {
  /** Of the framework and what matters beside it, by name. */
  readonly versions: Readonly<Record<string, string>>;
  openWorker(stage: Stage): Promise<WorkerSeat>;
  openSender(stage: Stage): Promise<SenderSeat>;
}

/** Where a participant plays. */
export interface Stage {
  readonly url: string;
  /** Its own folder, the same again after it was killed: keys, checkpoints, journals. */
  readonly folder: string;
  /** The agent's name of a sender; a worker's come with each `serve`. */
  readonly agent: string;
}

export interface WorkerSeat {
  /** Resolves when the relay knows of the offer. */
  serve(agent: string, capability: string): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface SenderSeat {
  tell(command: SenderCommand): void;
  /** The message of this tag that has the member, also one that came before; rejects when it does not come in time. */
  heard<Name extends keyof SenderMessage>(tag: string, member: Name): Promise<NonNullable<SenderMessage[Name]>>;
  /** How often such a message came. */
  count(tag: string, member: keyof SenderMessage): number;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** It cannot be had on this machine; the message says why. */
export class Unavailable extends Error {}
