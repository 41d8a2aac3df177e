/** How the schemas of a need look beside those of an entry, before anything is compared. */

import type { Need } from "@handfast/protocol/wire";
import type { Entry } from "./entry.ts";
import { misfits, type Shape, shapeOf, shapeOfValue } from "./shape.ts";
import type { Side } from "./shape-index.ts";

export class Glance {
  readonly #asked: Readonly<Record<Side, Shape | null>>;

  private constructor(asked: Readonly<Record<Side, Shape | null>>) {
    this.#asked = asked;
  }

  /** Null: the need says nothing of schemas. */
  static at({ input, input_schema, output_schema }: Need): Glance | null {
    if (input === undefined && input_schema === undefined && output_schema === undefined) return null;
    const given = input_schema !== undefined ? shapeOf(input_schema) : input === undefined ? null : shapeOfValue(input);
    return new Glance({ input: given, output: output_schema === undefined ? null : shapeOf(output_schema) });
  }

  asks(side: Side): boolean {
    return this.#asked[side] !== null;
  }

  /** Whoever takes anything fits; whoever does not say what comes out may not. */
  misfits(side: Side, shape: Shape | null): number {
    const asked = this.#asked[side];
    if (asked === null) return 0;
    if (side === "input") return shape === null ? 0 : misfits(asked, shape);
    return shape === null ? 1 : misfits(shape, asked);
  }

  misfitsOf({ input, output }: Entry): number {
    return this.misfits("input", input?.shape ?? null) + this.misfits("output", output?.shape ?? null);
  }
}
