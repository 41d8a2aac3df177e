/** Names by a time each, the earliest first: a binary heap that knows where each name is, so that every name is in it once. */

import type { Time } from "@handfast/core";

interface Expiry {
  readonly name: string;
  readonly at: Time;
}

export class Expiries {
  private readonly heap: Expiry[] = [];
  private readonly places = new Map<string, number>();

  get size(): number {
    return this.heap.length;
  }

  /** In place of the time it had. */
  set(name: string, at: Time): void {
    const place = this.places.get(name) ?? this.heap.length;
    this.put(place, { name, at });
    this.rise(place);
    this.sink(this.places.get(name) ?? place);
  }

  /** The earliest, if its time is not after `now`. */
  take(now: Time): string | undefined {
    const [first] = this.heap;
    if (first === undefined || first.at > now) return undefined;
    this.delete(first.name);
    return first.name;
  }

  /** Those whose time is not after `now`, so many at most: they stay until they are deleted. */
  due(now: Time, most: number): readonly string[] {
    const due: Expiry[] = [];
    for (let [first] = this.heap; due.length < most && first !== undefined && first.at <= now; [first] = this.heap) {
      due.push(first);
      this.delete(first.name);
    }
    for (const { name, at } of due) this.set(name, at);
    return due.map(({ name }) => name);
  }

  /** When the first of them is due. */
  earliest(): Time | undefined {
    return this.heap[0]?.at;
  }

  delete(name: string): void {
    const place = this.places.get(name);
    if (place === undefined) return;
    this.places.delete(name);
    const last = this.heap.pop();
    if (last === undefined || place === this.heap.length) return;
    this.put(place, last);
    this.rise(place);
    this.sink(this.places.get(last.name) ?? place);
  }

  clear(): void {
    this.heap.length = 0;
    this.places.clear();
  }

  private rise(from: number): void {
    for (let place = from; place > 0; ) {
      const parent = (place - 1) >> 1;
      if (this.at(parent) <= this.at(place)) return;
      this.swap(place, parent);
      place = parent;
    }
  }

  private sink(from: number): void {
    for (let place = from; ; ) {
      const left = 2 * place + 1;
      const child = this.at(left + 1) < this.at(left) ? left + 1 : left;
      if (this.at(child) >= this.at(place)) return;
      this.swap(place, child);
      place = child;
    }
  }

  private at(place: number): Time {
    return this.heap[place]?.at ?? Number.POSITIVE_INFINITY;
  }

  private put(place: number, expiry: Expiry): void {
    this.heap[place] = expiry;
    this.places.set(expiry.name, place);
  }

  private swap(one: number, other: number): void {
    const [first, second] = [this.heap[one], this.heap[other]];
    if (first === undefined || second === undefined) return;
    this.put(one, second);
    this.put(other, first);
  }
}
