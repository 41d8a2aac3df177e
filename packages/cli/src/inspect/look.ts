/** How things are to be shown: with which colours, as of when, shortened or whole. */

import type { Style } from "../style.ts";
import type { Terminal } from "../terminal.ts";

export interface Look {
  readonly style: (style: Style, text: string) => string;
  /** The moment that relative times are told from. */
  readonly now: number;
  /** Whole payloads and exact times. */
  readonly full: boolean;
  /** Characters in a line. */
  readonly width: number;
  /** Where lines are cut; null: nowhere. */
  readonly edge: number | null;
}

export function lookOf(terminal: Terminal, full = false): Look {
  return {
    style: (style, text) => terminal.style(style, text),
    now: Date.now(),
    full,
    width: terminal.columns,
    edge: terminal.edge,
  };
}

/** A state in the colour of how well it goes. */
export function paintState(state: string, { style }: Pick<Look, "style">): string {
  switch (state) {
    case "completed":
      return style("green", state);
    case "failed":
    case "rejected":
    case "expired":
      return style("red", state);
    case "canceled":
      return style("dim", state);
    default:
      return style("cyan", state);
  }
}
