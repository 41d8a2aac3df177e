/** Everything that `show` tells of one handoff. */

import type { HandoffView, QuestionView } from "@handfast/protocol/wire";
import type { Facts } from "../why/facts.ts";

export interface Story {
  readonly view: HandoffView;
  readonly facts: Facts;
  /** Of every question that was asked, as far as the caller may see them. */
  readonly questions: readonly QuestionView[];
  /** What checking every signature found: a fault, or that all of them hold; null: nobody asked to. */
  readonly checked: { readonly fault: string | null } | null;
}
