/** Collects what one command does to one handoff. Lives only inside `decide`; nothing outside sees it change. */

import type { Context, Decision, Follow, Refusal } from "./command.ts";
import type { EventBody, HandoffEvent } from "./event.ts";
import type { Handoff, Time } from "./handoff.ts";

export class Change {
  readonly context: Context;
  readonly now: Time;
  handoff: Handoff;
  readonly #before: Handoff | null;
  readonly #events: HandoffEvent[] = [];
  readonly #follow: Follow[] = [];

  constructor(before: Handoff | null, start: Handoff, context: Context, now: Time) {
    this.#before = before;
    this.handoff = start;
    this.context = context;
    this.now = now;
  }

  set(patch: Partial<Handoff>): void {
    this.handoff = { ...this.handoff, ...patch };
  }

  emit(body: EventBody): void {
    const { accepted, seq } = this.handoff;
    this.set({ seq: seq + 1 });
    this.#events.push({
      namespace: accepted.namespace,
      handoff: accepted.id,
      seq: seq + 1,
      at: this.now,
      correlation_id: accepted.correlation_id,
      causation_id: accepted.causation?.id ?? null,
      from: accepted.from,
      to_agent: accepted.to,
      capability: accepted.capability,
      ...body,
    });
  }

  follow(follow: Follow): void {
    this.#follow.push(follow);
  }

  /** The command was carried out; `keep` numbers the body it brought. */
  done(keep: number | null = null): Decision {
    return this.#decision(null, keep, true);
  }

  /** The command was carried out, but is not worth an fsync, unless time changed something durable on the way. */
  remembered(): Decision {
    return this.#decision(null, null, this.#events.length > 0);
  }

  /** The command was refused; what time or lateness changed stands. */
  refused(refusal: Refusal, keep: number | null = null): Decision {
    return this.#decision(refusal, keep, true);
  }

  /** Time ended its keeping: state and bodies go. */
  purged(): Decision {
    return { ...this.#decision(null, null, true), purge: true };
  }

  #decision(refusal: Refusal | null, keep: number | null, durable: boolean): Decision {
    const changed = this.handoff !== this.#before;
    return {
      next: changed ? (durable ? { ...this.handoff, version: this.handoff.version + 1 } : this.handoff) : null,
      events: this.#events,
      refusal,
      follow: this.#follow,
      durable: changed && durable,
      keep,
      purge: false,
    };
  }
}

export function refusal(code: number, reason: string, message: string): Refusal {
  return { code, reason, message };
}
