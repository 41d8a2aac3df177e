/**
 * A `pattern` that runs in time linear in its input (RE2), whoever wrote it. The JavaScript engine took 3.7 s for
 * `^(a+)+$` on 28 characters.
 */

import { RE2JS } from "re2js";
import type { MeterSlot } from "./meter.ts";

/**
 * Nanoseconds, measured at worst. A small program becomes an automaton that takes each character in one step; a larger
 * one may have too many states for that and is then simulated, instruction by instruction; word boundaries always are.
 */
const price = {
  test: 600,
  small_program: 12,
  small_char: 120,
  char_instruction: 35,
  boundary_char_instruction: 120,
} as const;

export class LinearPattern {
  readonly program: number;
  private readonly source: string;
  private readonly expression: RE2JS;
  private readonly char_cost: number;
  private readonly meter: MeterSlot;

  /** Throws a SyntaxError that says what RE2 cannot do. */
  constructor(source: string, meter: MeterSlot) {
    try {
      this.expression = RE2JS.compile(RE2JS.translateRegExp(source));
    } catch (error) {
      throw new SyntaxError(error instanceof Error ? error.message : String(error));
    }
    this.source = source;
    this.meter = meter;
    this.program = this.expression.programSize();
    this.char_cost = charCost(source, this.program);
  }

  test(text: string): boolean {
    this.meter.spend(price.test + text.length * this.char_cost);
    return this.expression.test(text);
  }

  /** ajv tells patterns apart by this: without it, all patterns of a schema would be the first one. */
  toString(): string {
    return this.source;
  }
}

/** From the start, one piece after the other, nothing optional: there is never more than one way on. */
const single_path = /^\^(?:[^*+?|(){},\\]|\\[dwsDWS./-]|\{\d+\})*$/;

function charCost(source: string, program: number): number {
  if (/\\b/i.test(source)) return program * price.boundary_char_instruction;
  return program <= price.small_program || single_path.test(source)
    ? price.small_char
    : program * price.char_instruction;
}
