/** What became of every scenario of every pair. */

import { type Result, type Scenario, scenario_names } from "./scenarios/scenario.ts";

export interface Cell {
  readonly sender: string;
  readonly worker: string;
  readonly scenario: Scenario;
  readonly result: Result;
}

/** What went wrong beside the scenarios. */
export interface Fault {
  readonly where: string;
  readonly why: string;
}

export class Matrix {
  readonly #cells: Cell[] = [];
  readonly #faults: Fault[] = [];
  readonly #tell: (cell: Cell) => void;

  constructor(tell: (cell: Cell) => void) {
    this.#tell = tell;
  }

  get cells(): readonly Cell[] {
    return this.#cells;
  }

  get faults(): readonly Fault[] {
    return this.#faults;
  }

  fault(fault: Fault): void {
    this.#faults.push(fault);
  }

  /** Something was tried, and nothing failed. */
  get isGood(): boolean {
    return this.count("passed") > 0 && this.count("failed") === 0 && this.#faults.length === 0;
  }

  /** Runs it and writes down how it went; what throws is a failure of this cell alone. */
  async try(place: Omit<Cell, "result">, run: () => Promise<void>, began = performance.now()): Promise<void> {
    try {
      await run();
      this.put({ ...place, result: { is: "passed", ms: Math.round(performance.now() - began) } });
    } catch (error) {
      this.put({ ...place, result: { is: "failed", why: error instanceof Error ? error.message : String(error) } });
    }
  }

  put(cell: Cell): void {
    this.#cells.push(cell);
    this.#tell(cell);
  }

  of(sender: string, worker: string): readonly Cell[] {
    const cells = this.#cells.filter((cell) => cell.sender === sender && cell.worker === worker);
    return cells.toSorted((a, b) => scenario_names.indexOf(a.scenario) - scenario_names.indexOf(b.scenario));
  }

  count(is: Result["is"]): number {
    return this.#cells.filter(({ result }) => result.is === is).length;
  }
}

/** Of a reason, which may have the whole output of a process below it. */
export function firstLine(why: string): string {
  return why.split("\n")[0] ?? "";
}
