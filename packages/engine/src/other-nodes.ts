/**
 * What other nodes commit to a shared store, read from the log that all of them write: whoever waits here is woken, and what is
 * remembered here is put right, as if it had been committed here. Nothing relies on it being in time: a batch reads the store
 * for itself, and a commit is held against the versions that are there.
 *
 * A signal makes it look at once; without one it looks now and then by itself.
 */

import type { HandoffEvent, Time } from "@handfast/core";
import type { EngineLimits } from "./limits.ts";
import type { Life, Memory } from "./memory.ts";
import type { FollowedEvent, Sharing, Store, Unit } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";

interface OtherNodesOptions {
  readonly sharing: Sharing;
  readonly store: Store;
  readonly memory: Memory;
  readonly surroundings: Surroundings;
  readonly limits: Pick<EngineLimits, "follow_every_ms" | "follow_gap" | "follow_events">;
  readonly now: () => Time;
  /** Every event of all nodes, this one's too, in the log's order. */
  readonly tell: (met: Met) => void;
  /** Another node has written streamed output of this handoff. */
  readonly onText: (namespace: string, id: string) => void;
  /** Of a handoff that nothing is remembered of: whether it has to be looked at because of these. */
  readonly concerns: (events: Life) => boolean;
  /** After every look, whether or not it found something. */
  readonly onLook: (look: Look) => Promise<void>;
  /** The store did not answer. */
  readonly onFault: (error: unknown) => void;
}

/** An event as it was met in the log. */
interface Met extends FollowedEvent {
  readonly event: HandoffEvent;
}

export interface Look {
  /** Not because of a signal, but because it is time for one: what no signal tells is looked at too. */
  readonly is_whole: boolean;
  /** Records may have been written. */
  readonly has_records: boolean;
  /** Work may have been left that no worker of its node asks for. */
  readonly has_left: boolean;
}

const nothing_yet: Look = { is_whole: false, has_records: false, has_left: false };

export class OtherNodes {
  readonly #options: OtherNodesOptions;
  /** Events of this node that were not met in the log yet. */
  readonly #own = new Set<string>();
  /** The handoffs of the commit under way: what is met of them may be its work, or what it conflicts with. */
  readonly #under_way = new Set<string>();
  #settled = Promise.withResolvers<void>();
  #after_pos = 0;
  #seen_until: Time = 0;
  #looked_at: Time = 0;
  #found_last = 0;
  #running = false;
  #looking: Promise<void> | null = null;
  #asked = false;
  #is_armed = false;
  #look_at = nothing_yet;
  #cancel: () => void = () => {};
  #unlisten: () => void = () => {};

  constructor(options: OtherNodesOptions) {
    this.#options = options;
  }

  /** Takes what is newest now as known; done anew after the store was read afresh. Nothing is told before `follow`. */
  async begin(): Promise<void> {
    this.stop();
    await this.#looking;
    this.#own.clear();
    this.#seen_until = this.#options.now();
    this.#after_pos = await this.#options.sharing.head();
  }

  /** What was committed before this has been told, but for what two nodes' clocks differ by. */
  get seen_until(): Time {
    return this.#seen_until;
  }

  follow(): void {
    this.#running = true;
    const { sharing, onText } = this.#options;
    const unlisten = [
      sharing.listen((_, among) => this.#lookSoon({ is_whole: false, ...among })),
      sharing.listenToText(onText),
    ];
    this.#unlisten = () => {
      for (const end of unlisten) end();
    };
    this.#arm();
  }

  stop(): void {
    this.#running = false;
    this.#cancel();
    this.#unlisten();
    this.settled();
  }

  /** Called before these are committed: their events are told by whoever commits them. */
  sending(units: readonly Unit[]): void {
    this.#settled = Promise.withResolvers();
    for (const event of eventsOf(units)) {
      this.#own.add(nameOf(event));
      this.#under_way.add(handoffOf(event));
    }
  }

  /** These were not committed after all. */
  unsent(units: readonly Unit[]): void {
    for (const event of eventsOf(units)) this.#own.delete(nameOf(event));
  }

  /** What became of the commit under way is known, and remembered. */
  settled(): void {
    this.#under_way.clear();
    this.#settled.resolve();
  }

  /** However many signals come meanwhile: what no signal tells is looked at in its time. */
  #arm(): void {
    this.#cancel();
    if (!this.#running) return;
    this.#is_armed = true;
    const { surroundings, limits } = this.#options;
    const delay_ms = limits.follow_every_ms * (0.5 + surroundings.random());
    this.#cancel = surroundings.schedule(delay_ms, () => {
      this.#is_armed = false;
      this.#lookSoon({ is_whole: true, has_records: true, has_left: true });
    });
  }

  #lookSoon({ is_whole, has_records, has_left }: Look): void {
    if (!this.#running) return;
    this.#asked = true;
    const before = this.#look_at;
    this.#look_at = {
      is_whole: is_whole || before.is_whole,
      has_records: has_records || before.has_records,
      has_left: has_left || before.has_left,
    };
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      if (!this.#is_armed) this.#arm();
      if (this.#asked) this.#lookSoon(this.#look_at);
    });
  }

  async #look(): Promise<void> {
    const { limits, sharing, tell, onLook, onFault } = this.#options;
    try {
      while (this.#asked && this.#running) {
        await this.#gap();
        this.#asked = false;
        const looked_at = this.#options.now();
        this.#looked_at = looked_at;
        const followed = await sharing.follow(this.#after_pos, limits.follow_events);
        if (!this.#running) return;
        this.#found_last = followed.length;
        const met = followed.flatMap(eventOf);
        if (met.some(({ event }) => this.#under_way.has(handoffOf(event)))) await this.#settled.promise;
        if (!this.#running) return;
        const others = this.#notOwn(met);
        for (const [namespace, lives] of Map.groupBy(others, ([first]) => first.namespace)) {
          await this.#learn(namespace, lives);
        }
        this.#after_pos = followed.at(-1)?.pos ?? this.#after_pos;
        for (const one of met) tell(one);
        if (followed.length >= limits.follow_events) this.#asked = true;
        else this.#seen_until = looked_at;
      }
      const look = this.#look_at;
      this.#look_at = nothing_yet;
      if (this.#running) await onLook(look);
    } catch (error) {
      onFault(error);
    }
  }

  /** What comes within it is looked at together, and more of it the more there is. The first signal after a quiet time waits for nothing. */
  async #gap(): Promise<void> {
    const { limits, surroundings, now } = this.#options;
    const { least_ms, most_ms, per_event_ms } = limits.follow_gap;
    const gap_ms = Math.min(most_ms, Math.max(least_ms, this.#found_last * per_event_ms));
    const left_ms = this.#looked_at + gap_ms - now();
    if (left_ms > 0) await new Promise<void>((resolve) => surroundings.schedule(left_ms, resolve));
  }

  /** Only what somebody here may rely on is read; of the rest the log says enough. */
  async #learn(namespace: string, lives: readonly Life[]): Promise<void> {
    const { store, memory, concerns } = this.#options;
    const known = lives.filter((events) => memory.knows(namespace, events[0].handoff) || concerns(events));
    const ids = known.map(([first]) => first.handoff);
    const loaded = ids.length === 0 ? [] : await store.load(namespace, ids);
    const next = new Map(known.map((events, index) => [events, loaded[index] ?? null]));
    memory.learn(lives.map((events) => ({ events, next: next.get(events) ?? null })));
  }

  /** By handoff, in the order of the first event of each. */
  #notOwn(met: readonly Met[]): readonly Life[] {
    const others = new Map<string, [HandoffEvent, ...HandoffEvent[]]>();
    for (const { event } of met) {
      if (this.#own.delete(nameOf(event))) continue;
      const name = handoffOf(event);
      const known = others.get(name);
      if (known === undefined) others.set(name, [event]);
      else known.push(event);
    }
    return [...others.values()];
  }
}

/** An entry of no handoff is left out: nobody waits for those but who follows the log. */
function eventOf(followed: FollowedEvent): readonly Met[] {
  const event: HandoffEvent | { readonly handoff?: undefined } = followed.told ?? JSON.parse(followed.json);
  return event.handoff === undefined ? [] : [{ ...followed, event }];
}

function* eventsOf(units: readonly Unit[]): Generator<HandoffEvent> {
  for (const { writes } of units) for (const { events } of writes) yield* events;
}

function handoffOf({ namespace, handoff }: HandoffEvent): string {
  return `${namespace} ${handoff}`;
}

function nameOf({ namespace, handoff, seq }: HandoffEvent): string {
  return `${namespace} ${handoff} ${seq}`;
}
