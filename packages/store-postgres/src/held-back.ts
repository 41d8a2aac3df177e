/** Asks the server what holds it back, and not too often. */

import type { HeldBack } from "@handfast/engine";
import type { Asks } from "./connection.ts";
import { held_good_for_ms } from "./limits.ts";
import { number, type Row, text } from "./rows.ts";
import { findHeldBack } from "./sql/held-back.ts";

export class HeldBackReader {
  readonly #ask: () => Promise<readonly Row[]>;
  #asked: Promise<readonly HeldBack[]> | null = null;
  #good_until = 0;

  constructor(read: <Value>(ask: (asks: Asks) => Promise<Value>) => Promise<Value>) {
    this.#ask = () => read((asks) => asks.ask(findHeldBack));
  }

  read(): Promise<readonly HeldBack[]> {
    if (this.#asked !== null && performance.now() < this.#good_until) return this.#asked;
    const asked = this.#ask().then((rows) => rows.map(heldBack));
    this.#asked = asked;
    this.#good_until = performance.now() + held_good_for_ms;
    // What failed is asked again by the next one.
    asked.catch(() => {
      if (this.#asked === asked) this.#asked = null;
    });
    return asked;
  }
}

const holders: readonly HeldBack["holder"][] = ["session", "standby", "slot", "prepared"];

function heldBack(row: Row): HeldBack {
  const named = text(row, "holder");
  const holder = holders.find((each) => each === named);
  if (holder === undefined) throw new Error(`an unknown holder ${named}`);
  const { seconds } = row;
  return { holder, transactions: number(row, "transactions"), seconds: typeof seconds === "number" ? seconds : null };
}
