/**
 * Room for answers that carry payloads. An answer is made only when there is room for it: on its own connection, among
 * the answers of its caller, and, where it is large, in the relay. So what is held for peers stays bounded however much
 * they ask for at once, nobody is cut for asking, and nobody keeps the others waiting for long.
 *
 * A small answer waits only for what its own caller has not taken. Large ones also take turns, round robin over the
 * callers, and over the connections of each.
 */

import type { Surroundings } from "@handfast/engine";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Outlet, type Release, RoomAccount, type RoomWaiter } from "./room-account.ts";

export class ReplyRoom {
  readonly #limits: RelayLimits;
  readonly #surroundings: Surroundings;
  readonly #accounts = new Map<string, RoomAccount>();
  readonly #account_of = new WeakMap<Outlet, RoomAccount>();
  /** In the order of their turns. */
  readonly #with_waiters = new Set<RoomAccount>();
  readonly #gone = new WeakSet<Outlet>();
  #making = 0;
  #waiting = 0;
  #is_looking = false;

  constructor(limits: RelayLimits, surroundings: Surroundings) {
    this.#limits = limits;
    this.#surroundings = surroundings;
  }

  /**
   * Answers, at once where there is room, when an answer of about so many bytes may be made: with what must be called
   * when it was handed over or will not be. Fails where too many wait, or when the outlet is gone.
   */
  enter(caller: string, outlet: Outlet, bytes: number): Release | Promise<Release> {
    if (this.#gone.has(outlet)) throw goneOutlet();
    const account = this.#accountOf(caller);
    this.#account_of.set(outlet, account);
    const is_large = bytes > this.#limits.small_reply_bytes;
    const fits = is_large ? this.#fitsLarge(account, outlet) : this.#fitsSmall(account, outlet);
    if (fits && !account.hasWaiter(outlet, is_large)) return this.#begin(account, outlet, bytes, is_large);
    this.#checkQueue(account);
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    account.wait({ outlet, bytes, is_large, begin: resolve, fail: reject });
    this.#waiting += 1;
    this.#with_waiters.add(account);
    return promise;
  }

  /** Somebody took something, or is done: whoever waits may have room now. Looked at once for all of a turn. */
  look(): void {
    if (this.#is_looking || this.#waiting === 0) return;
    this.#is_looking = true;
    this.#surroundings.defer(() => {
      this.#is_looking = false;
      this.#serve();
    });
  }

  /** Nothing is taken there any more. */
  leave(outlet: Outlet): void {
    this.#gone.add(outlet);
    this.dismiss(outlet, goneOutlet());
    const account = this.#account_of.get(outlet);
    if (account === undefined) return;
    account.forget(outlet);
    this.#tidy(account);
    this.look();
  }

  /** Whoever waits there is told so. */
  dismiss(outlet: Outlet, problem: Problem): void {
    const account = this.#account_of.get(outlet);
    if (account === undefined) return;
    const waited = account.dismiss(outlet);
    this.#waiting -= waited.length;
    this.#tidy(account);
    for (const { fail } of waited) fail(problem);
  }

  #accountOf(caller: string): RoomAccount {
    const known = this.#accounts.get(caller);
    if (known !== undefined) return known;
    const account = new RoomAccount(caller);
    this.#accounts.set(caller, account);
    return account;
  }

  #tidy(account: RoomAccount): void {
    if (account.waiting === 0) this.#with_waiters.delete(account);
    if (account.isIdle && this.#accounts.get(account.caller) === account) this.#accounts.delete(account.caller);
  }

  #checkQueue(account: RoomAccount): void {
    const { replies_waiting, replies_waiting_per_caller } = this.#limits;
    if (this.#waiting < replies_waiting && account.waiting < replies_waiting_per_caller) return;
    this.#tidy(account);
    throw new Problem(429, "busy", "Too many answers wait for room; take those you asked for first.", {}, 1);
  }

  #fitsSmall(account: RoomAccount, outlet: Outlet): boolean {
    const { ws_output_bytes, output_bytes_per_caller } = this.#limits;
    return account.heldBy(outlet) < ws_output_bytes && account.held() < output_bytes_per_caller;
  }

  #fitsLarge(account: RoomAccount, outlet: Outlet): boolean {
    return this.#hasTurn(account) && this.#takesLarge(account, outlet);
  }

  #takesLarge(account: RoomAccount, outlet: Outlet): boolean {
    return account.heldBy(outlet) < this.#limits.ws_ready_bytes;
  }

  /** Whether a large answer may be made for this caller, as far as it does not depend on the connection. */
  #hasTurn(account: RoomAccount): boolean {
    const { pages_in_flight, pages_per_caller, output_bytes, output_bytes_per_caller } = this.#limits;
    if (this.#making >= pages_in_flight || account.making >= pages_per_caller) return false;
    return account.held() < output_bytes_per_caller && this.#held() < output_bytes;
  }

  #held(): number {
    let bytes = 0;
    for (const account of this.#accounts.values()) bytes += account.held();
    return bytes;
  }

  #begin(account: RoomAccount, outlet: Outlet, bytes: number, is_large: boolean): Release {
    const turn = is_large ? 1 : 0;
    this.#making += turn;
    account.begin(outlet, bytes, turn);
    return () => {
      this.#making -= turn;
      account.end(outlet, bytes, turn);
      this.#tidy(account);
      this.look();
    };
  }

  /** One for each caller in turn, until nobody who waits has room. */
  #serve(): void {
    let unserved = this.#with_waiters.size;
    while (unserved > 0) {
      const [account] = this.#with_waiters;
      if (account === undefined) return;
      this.#with_waiters.delete(account);
      const next = this.#next(account);
      if (next !== null) {
        this.#waiting -= 1;
        next.begin(this.#begin(account, next.outlet, next.bytes, next.is_large));
      }
      if (account.waiting > 0) this.#with_waiters.add(account);
      unserved = next === null ? unserved - 1 : this.#with_waiters.size;
    }
  }

  #next(account: RoomAccount): RoomWaiter | null {
    const small = account.take(false, (outlet) => this.#fitsSmall(account, outlet));
    if (small !== null || !this.#hasTurn(account)) return small;
    return account.take(true, (outlet) => this.#takesLarge(account, outlet));
  }
}

function goneOutlet(): Problem {
  return new Problem(429, "busy", "The connection ended before there was room for the answer.", {}, 1);
}
