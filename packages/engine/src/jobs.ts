/** Jobs that wait for the next batch: ends, acks and beats first, then submits, timers last but never starved. */

import type { Draft } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { EngineLimits } from "./limits.ts";
import type { Plan } from "./plan.ts";
import type { UnitBuilder } from "./unit.ts";

export type JobClass = "urgent" | "submit" | "timer";

/** What a job will look at, read ahead for the whole batch: a handoff, all that it takes to accept one, or what a worker holds. */
export type Wants =
  | { readonly namespace: string; readonly id: string }
  | { readonly draft: Draft }
  | { readonly holder: Holder };

export interface Holder {
  readonly namespace: string;
  readonly agent: string;
  readonly worker: string;
  readonly request_id: string;
}

export interface Job {
  readonly class: JobClass;
  /** About how much it will write. */
  readonly bytes: number;
  readonly wants: readonly Wants[];
  /**
   * Decides into the batch; again from the start where something was `Missing`. Returns what to do when the batch is safe;
   * any other throw fails this job alone.
   */
  decide(batch: Batch): Planned;
  fail(error: unknown): void;
}

export interface Planned {
  /** The units that must be committed for the answer to be true; a conflict runs the job again. */
  readonly units: readonly UnitBuilder[];
  answer(): void;
}

/** Plans, and tells what came of it once that is safe. */
export function decideBy<T>(plan: (batch: Batch) => Plan<T>, tell: (answer: T) => void): Job["decide"] {
  return (batch) => {
    const { units, answer } = plan(batch);
    return { units, answer: () => tell(answer) };
  };
}

/** A job that asks for nothing: its batch goes on with what the last one had to leave. */
export const goOn: Job = {
  class: "urgent",
  bytes: 0,
  wants: [],
  decide: () => ({ units: [], answer: () => {} }),
  fail: () => {},
};

/** The same, but its batch reads from the store first, which a store that has failed refuses. */
export const lookAtStore: Job = { ...goOn, wants: [{ namespace: "", id: "" }] };

const timers_per_batch = 1;

export class JobQueue {
  readonly #limits: EngineLimits;
  readonly #waiting: Record<JobClass, Job[]> = { urgent: [], submit: [], timer: [] };
  readonly #retries = new WeakMap<Job, number>();
  #bytes = 0;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  /** After a conflict, a few times. */
  mayRetry(job: Job): boolean {
    const times = (this.#retries.get(job) ?? 0) + 1;
    this.#retries.set(job, times);
    return times <= this.#limits.conflict_retries;
  }

  /** What the jobs will look at; `again` of those that were decided before, on something that was not so. */
  wants(jobs: readonly Job[]): Record<"first" | "again", readonly Wants[]> {
    const of = (was_retried: boolean) =>
      jobs.filter((job) => this.#retries.has(job) === was_retried).flatMap(({ wants }) => wants);
    return { first: of(false), again: of(true) };
  }

  get size(): number {
    return this.#waiting.urgent.length + this.#waiting.submit.length + this.#waiting.timer.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a further job of this class must be turned away: submits long before ends. */
  isFull(jobClass: JobClass): boolean {
    if (jobClass === "timer") return false;
    const { pending_submits, pending_jobs, pending_bytes } = this.#limits;
    const share = jobClass === "submit" ? 0.5 : 1;
    if (this.#bytes >= pending_bytes * share) return true;
    return jobClass === "submit" ? this.#waiting.submit.length >= pending_submits : this.size >= pending_jobs;
  }

  add(job: Job): void {
    this.#waiting[job.class].push(job);
    this.#bytes += job.bytes;
  }

  /** Back to the front, in the given order. */
  again(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      this.#waiting[job.class].unshift(job);
      this.#bytes += job.bytes;
    }
  }

  take(): readonly Job[] {
    const { batch_jobs, batch_bytes } = this.#limits;
    const taken: Job[] = [];
    let bytes = 0;
    const takeFrom = (jobClass: JobClass, most: number) => {
      const waiting = this.#waiting[jobClass];
      let count = 0;
      for (const job of waiting) {
        if (count >= most || (taken.length > 0 && bytes + job.bytes > batch_bytes)) break;
        taken.push(job);
        bytes += job.bytes;
        count += 1;
      }
      waiting.splice(0, count);
    };
    takeFrom("urgent", batch_jobs);
    takeFrom("submit", batch_jobs - taken.length);
    takeFrom("timer", timers_per_batch);
    this.#bytes -= bytes;
    return taken;
  }

  drain(): readonly Job[] {
    const all = [...this.#waiting.urgent, ...this.#waiting.submit, ...this.#waiting.timer];
    this.#waiting.urgent = [];
    this.#waiting.submit = [];
    this.#waiting.timer = [];
    this.#bytes = 0;
    return all;
  }
}
