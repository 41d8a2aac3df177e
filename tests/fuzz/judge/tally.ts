/** What was sent and what came back: so that a run can show that it reached what it should. */

export interface OperationTally {
  sent: number;
  done: number;
  refused: number;
}

export class Tally {
  inputs = 0;
  honest_calls = 0;
  bytes = 0;
  readonly kinds = new Map<string, number>();
  readonly statuses = new Map<string, number>();
  readonly reasons = new Map<string, number>();
  readonly closes = new Map<string, number>();
  readonly mutations = new Map<string, number>();
  readonly operations = new Map<string, OperationTally>();
  /** In which state a handoff was, as far as the fuzzer knew, when something was tried on it. */
  readonly states = new Map<string, number>();

  operation(name: string): OperationTally {
    const known = this.operations.get(name) ?? { sent: 0, done: 0, refused: 0 };
    this.operations.set(name, known);
    return known;
  }

  answered(operation: string | null, status: number, reason: unknown): void {
    count(this.statuses, `${status}`);
    if (typeof reason === "string") count(this.reasons, reason);
    if (operation === null || !this.operations.has(operation)) return;
    if (status < 400) this.operation(operation).done += 1;
    else this.operation(operation).refused += 1;
  }
}

export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
