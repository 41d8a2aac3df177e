/** The one line below the events that says how things are now. */

import { span } from "../../moments.ts";
import { meter } from "../meter.ts";
import { shorten } from "../payload-text.ts";
import { isEnd, type StoryEvent } from "../story-event.ts";

interface Progress {
  readonly fraction: number | null;
  readonly note: string | null;
}

/** Learns from the events of any number of handoffs. */
export class StatusLine {
  readonly #states = new Map<string, string>();
  readonly #agents = new Map<string, string>();
  #progress: Progress | null = null;
  #since: number | null = null;

  event({ handoff, type, at, agent }: StoryEvent): void {
    this.#since ??= at;
    if (agent) this.#agents.set(handoff, agent);
    const state = isEnd(type) ? type : stateAfter[type];
    if (state === undefined) return;
    this.#states.set(handoff, state);
    if (state !== "working") this.#progress = null;
  }

  progress(progress: Progress): void {
    this.#progress = progress;
  }

  text(now: number): string {
    const [state] = this.#states.values();
    if (state === undefined) return "waiting for events …";
    const ran = span(now - (this.#since ?? now));
    if (this.#states.size > 1) return `${this.#counts()} · ${ran}`;
    const [agent] = this.#agents.values();
    const { fraction = null, note = null } = this.#progress ?? {};
    const parts = [
      state,
      ...(agent === undefined ? [] : [agent]),
      ...(fraction === null ? [] : [`${meter(fraction, 1)} ${Math.round(fraction * 100)} %`]),
      ...(note === null ? [] : [shorten(note, 60)]),
      ran,
    ];
    return parts.join(" · ");
  }

  #counts(): string {
    const counts = new Map<string, number>();
    for (const state of this.#states.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return Array.from(counts, ([state, count]) => `${count} ${state}`).join(", ");
  }
}

/** Where a handoff is after an event; what is missing here changes no state. */
const stateAfter: Readonly<Record<string, string>> = {
  accepted: "queued",
  delivered: "delivered",
  acknowledged: "working",
  asked: "waiting",
  answered: "working",
  unanswered: "working",
  requeued: "queued",
};
