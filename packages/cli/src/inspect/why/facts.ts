/** What is known around a handoff when it is asked why it is where it is. */

import type { AgentView, HandoffView, QuestionView } from "@handfast/protocol/wire";
import type { StoryEvent } from "../story-event.ts";

export interface Facts {
  readonly now: number;
  /** Who asks; null: an operator. */
  readonly me: string | null;
  /** In order, from the first. */
  readonly events: readonly StoryEvent[];
  /** Agents that the handoff is meant for: its addressee, or all that offer its capability. */
  readonly agents: readonly AgentView[];
  /** An earlier open handoff of the same ordering key, the first of them; null: none that the caller may see. */
  readonly head: HandoffView | null;
  /** Open handoffs that those agents hold, as far as the caller may see them. */
  readonly held: readonly HandoffView[];
  /** The open question in full; null: none, or not for the caller to see. */
  readonly question: QuestionView | null;
  /** Handoffs that name this one as their parent. */
  readonly children: readonly HandoffView[];
}

/** The answer: one sentence, and what to type next. */
export interface Why {
  readonly sentence: string;
  readonly next: readonly string[];
}
