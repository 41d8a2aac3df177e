/** A test relay and its clock, as they are told what to do: one order after the other, each answered when all is at rest. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as real } from "node:timers/promises";
import { ClockedRelay, VirtualTime } from "@handfast/client/testing/internal";
import { OpenCalls, type ParkedCalls } from "./open-calls.ts";
import type { Order } from "./orders.ts";

export interface Beginning {
  readonly start_at: number;
  readonly seed: number;
}

/** How it stands once it has come to rest. */
interface State extends ParkedCalls {
  readonly now: number;
  /** When its next timer goes off; null: none is set. */
  readonly next: number | null;
  readonly running: boolean;
}

/** Longer than any grace within which clients and workers close. */
const close_most_ms = 120_000;
/** Of real time, for sockets to close. Only what takes longer waits for a clock, which must move then. */
const sockets_close_ms = 1_000;

export class Session {
  readonly #beginning: Beginning;
  readonly #clocked: ClockedRelay;
  readonly #time: VirtualTime;
  readonly #calls: OpenCalls;

  private constructor(beginning: Beginning, clocked: ClockedRelay, calls: OpenCalls) {
    this.#beginning = beginning;
    this.#clocked = clocked;
    this.#calls = calls;
    // From timer to timer a short rest will do: nobody's code but the relay's own runs here.
    this.#time = new VirtualTime(clocked.clock, () => clocked.stir.settleBriefly(() => clocked.pool.isBusy()));
  }

  static async start(beginning: Beginning): Promise<Session> {
    const calls = new OpenCalls();
    const clocked = await ClockedRelay.start({
      ...beginning,
      listen: { onRequest: (request, response) => calls.begin(request as IncomingMessage, response as ServerResponse) },
    });
    return new Session(beginning, clocked, calls);
  }

  /** Another, with nothing of this one. */
  async restarted({ seed, start_at }: { readonly seed: number | null; readonly start_at: number | null }) {
    await this.stop();
    const { seed: old_seed, start_at: old_start_at } = this.#beginning;
    return Session.start({ seed: seed ?? old_seed, start_at: start_at ?? old_start_at });
  }

  /** Where it is, and how it stands at the beginning. */
  async introduction() {
    const { listens_on: url, url: name, operator_token } = this.#clocked.relay;
    return { url, name, operator_token, ...(await this.#rested()) };
  }

  async obey(order: Exclude<Order, { readonly do: "stop" | "reset" }>): Promise<object> {
    switch (order.do) {
      case "settle":
        return this.#rested();
      case "run":
        // It comes to rest after each timer, and at the end.
        await this.#time.advance(Math.max(0, order.to - this.#clocked.clock.now()));
        return this.#state();
      case "pause":
        await this.#pause();
        return this.#rested();
      case "resume":
        await this.#resume(order.empty);
        return this.#rested();
      case "restart":
      case "restart_empty":
        await this.#pause();
        await this.#time.advance(order.down_ms);
        await this.#resume(order.do === "restart_empty");
        return this.#rested();
      case "events": {
        const state = await this.#rested();
        return { ...state, events: await this.#clocked.relay.events(order.handoff ?? undefined) };
      }
      default:
        throw new Error(`unreachable order ${JSON.stringify(order satisfies never)}`);
    }
  }

  async stop(): Promise<void> {
    await this.#pause();
    await this.#clocked.stop();
  }

  async #rested(): Promise<State> {
    const { stir, pool } = this.#clocked;
    await stir.settle(() => pool.isBusy());
    return this.#state();
  }

  #state(): State {
    const { clock, relay } = this.#clocked;
    return { now: clock.now(), next: clock.nextAt(), running: relay.isRunning, ...this.#calls.parked() };
  }

  /** Whoever waits is answered, as by any relay that stops. */
  async #pause(): Promise<void> {
    const pausing = this.#clocked.relay.pause();
    let is_done = false;
    const done = pausing.finally(() => {
      is_done = true;
    });
    const late = new AbortController();
    await Promise.race([done, real(sockets_close_ms, null, { signal: late.signal, ref: false }).catch(() => {})]);
    late.abort();
    await this.#time.passUntil(() => is_done, close_most_ms);
    await done;
  }

  async #resume(empty: boolean): Promise<void> {
    const { relay } = this.#clocked;
    if (empty && !relay.isRunning) await relay.forget();
    await relay.resume();
  }
}
