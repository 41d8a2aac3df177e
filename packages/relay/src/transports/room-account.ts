/** What one caller has of the room for answers: what is held for it, what is being made, and who waits. */

/** Where answers go: a connection, or one request over HTTP. */
export interface Outlet {
  /** What its peer has not taken yet. */
  readonly bytes: number;
}

export type Release = () => void;

export interface RoomWaiter {
  readonly outlet: Outlet;
  readonly bytes: number;
  readonly is_large: boolean;
  readonly begin: (release: Release) => void;
  readonly fail: (error: Error) => void;
}

export class RoomAccount {
  readonly caller: string;
  /** Large answers that are being made. */
  making = 0;
  waiting = 0;
  /** Of every outlet that may hold something: what is being made for it. */
  readonly #being_made = new Map<Outlet, number>();
  /** By outlet, in the order of their turns. A small answer does not wait behind large ones. */
  readonly #small = new Map<Outlet, RoomWaiter[]>();
  readonly #large = new Map<Outlet, RoomWaiter[]>();

  constructor(caller: string) {
    this.caller = caller;
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.making === 0 && this.#being_made.size === 0;
  }

  heldBy(outlet: Outlet): number {
    return outlet.bytes + (this.#being_made.get(outlet) ?? 0);
  }

  held(): number {
    let bytes = 0;
    for (const [outlet, being_made] of this.#being_made) {
      const held = outlet.bytes + being_made;
      if (held === 0) this.#being_made.delete(outlet);
      bytes += held;
    }
    return bytes;
  }

  begin(outlet: Outlet, bytes: number, turn: number): void {
    this.making += turn;
    this.#being_made.set(outlet, (this.#being_made.get(outlet) ?? 0) + bytes);
  }

  /** An outlet that holds nothing is forgotten; one that does, when it is looked at again or has left. */
  end(outlet: Outlet, bytes: number, turn: number): void {
    this.making -= turn;
    const left = this.#being_made.get(outlet);
    if (left === undefined) return;
    if (left > bytes || outlet.bytes > 0) this.#being_made.set(outlet, Math.max(0, left - bytes));
    else this.#being_made.delete(outlet);
  }

  hasWaiter(outlet: Outlet, is_large: boolean): boolean {
    return this.#queues(is_large).has(outlet);
  }

  wait(waiter: RoomWaiter): void {
    this.waiting += 1;
    const queues = this.#queues(waiter.is_large);
    const queue = queues.get(waiter.outlet);
    if (queue === undefined) queues.set(waiter.outlet, [waiter]);
    else queue.push(waiter);
  }

  /** The next one, in the order of the outlets' turns, that may begin. */
  take(is_large: boolean, mayBegin: (outlet: Outlet) => boolean): RoomWaiter | null {
    const queues = this.#queues(is_large);
    for (const [outlet, queue] of queues) {
      if (!mayBegin(outlet)) continue;
      const first = queue.shift();
      queues.delete(outlet);
      if (queue.length > 0) queues.set(outlet, queue);
      if (first === undefined) continue;
      this.waiting -= 1;
      return first;
    }
    return null;
  }

  /** Everybody who waited there. */
  dismiss(outlet: Outlet): readonly RoomWaiter[] {
    const left = [...(this.#small.get(outlet) ?? []), ...(this.#large.get(outlet) ?? [])];
    this.#small.delete(outlet);
    this.#large.delete(outlet);
    this.waiting -= left.length;
    return left;
  }

  /** Nothing is held there any more. */
  forget(outlet: Outlet): void {
    this.#being_made.delete(outlet);
  }

  #queues(is_large: boolean): Map<Outlet, RoomWaiter[]> {
    return is_large ? this.#large : this.#small;
  }
}
