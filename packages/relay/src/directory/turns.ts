/**
 * One after another: what reads, decides and then writes must not meet itself half-way. Where another node was faster, what it
 * wrote is taken over, and the work is done once more; so it is, once, where what is to be changed is not known here, since another
 * node may have made it a moment ago.
 */

import { Problem } from "../problem.ts";
import { isChangedMeanwhile } from "./record-table.ts";
import type { OtherWriters } from "./records.ts";

/** After so many the caller is told to try again. */
const attempts = 5;

export class Turns {
  private readonly others: OtherWriters | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(others?: OtherWriters) {
    this.others = others;
  }

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const { others } = this;
    return others === undefined ? this.one(work) : this.again(work, others);
  }

  private one<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.last.then(work, work);
    this.last = mine.catch(() => undefined);
    return mine;
  }

  private async again<Result>(work: () => Promise<Result>, others: OtherWriters): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.one(work);
      } catch (error) {
        const is_worth_it = attempt === 1 ? isChangedMeanwhile(error) || isUnknown(error) : isChangedMeanwhile(error);
        if (attempt >= attempts || !is_worth_it) throw error;
        await others.catchUp();
      }
    }
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof Problem && error.code === 404;
}
