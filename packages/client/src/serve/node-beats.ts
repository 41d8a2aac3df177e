/**
 * Heartbeats on a thread of their own, with a connection of their own: a handler that blocks the event loop, for a
 * minute even, keeps its lease while the process lives. The thread keeps no process alive. If it dies, somebody is told
 * and the heartbeats go on from here.
 */

import { Worker } from "node:worker_threads";
import type { Base } from "../base.ts";
import type { LeaseOver } from "../link/link.ts";
import type { BeatAccess } from "./beat-access.ts";
import { type BeatenLease, BeatLoop, type Beats } from "./beats.ts";
import { keyOf } from "./held.ts";
import type { FromThread, ThreadStart, ToThread } from "./node-beat-thread.ts";

/** Credentials live for five minutes and are made anew well before. */
const credential_ms = 60_000;

export class ThreadBeats implements Beats {
  readonly #base: Base;
  readonly #access: BeatAccess;
  readonly #onOver: (over: LeaseOver) => void;
  readonly #leases = new Map<string, BeatenLease>();
  readonly #thread: Worker;
  readonly #ready = Promise.withResolvers<void>();
  #instead: BeatLoop | null = null;
  #closed = false;
  #cancelTimer = () => {};

  private constructor(base: Base, access: BeatAccess, start: ThreadStart, onOver: (over: LeaseOver) => void) {
    this.#base = base;
    this.#access = access;
    this.#onOver = onOver;
    const file = import.meta.url.endsWith(".ts") ? "./node-beat-thread.ts" : "./node-beat-thread.js";
    this.#thread = new Worker(new URL(file, import.meta.url), { workerData: start, name: "handfast-heartbeats" });
    this.#thread.unref();
    this.#thread.on("message", (said: FromThread) => this.#hear(said));
    this.#thread.on("error", (error) => this.#goOnHere(error.message));
    this.#thread.on("exit", (code) => this.#goOnHere(`it exited with code ${code}`));
    if (access.seed === null) this.#renew();
  }

  static async start(base: Base, access: BeatAccess, onOver: (over: LeaseOver) => void): Promise<ThreadBeats> {
    const { agent, namespace, relay } = base;
    const { url, transport, seed } = access;
    const authorization = await access.authorization();
    const start = { agent, namespace, relay, url, transport, seed, authorization };
    const beats = new ThreadBeats(base, access, start, onOver);
    // A handler that blocks at once must find it beating.
    await beats.#ready.promise;
    return beats;
  }

  hold(lease: BeatenLease): void {
    this.#leases.set(keyOf(lease), lease);
    if (this.#instead === null) this.#tell({ hold: lease });
    else this.#instead.hold(lease);
  }

  drop(lease: BeatenLease): void {
    this.#leases.delete(keyOf(lease));
    if (this.#instead === null) this.#tell({ drop: lease });
    else this.#instead.drop(lease);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    this.#instead?.close();
    this.#leases.clear();
    void this.#thread.terminate();
  }

  #tell(said: ToThread): void {
    this.#thread.postMessage(said);
  }

  #hear(said: FromThread): void {
    if ("ready" in said) return this.#ready.resolve();
    if (this.#leases.delete(keyOf(said.over))) this.#onOver(said.over);
  }

  /** Without the key the thread lives on what it is given: a credential ahead of the old one's end. */
  #renew(): void {
    this.#cancelTimer = this.#base.surroundings.after(credential_ms, () => {
      this.#renew();
      // One that could not be made is made the next time, long before the old one ends.
      this.#access.authorization().then(
        (authorization) => this.#tell({ authorization }),
        () => {},
      );
    });
  }

  #goOnHere(why: string): void {
    if (this.#closed || this.#instead !== null) return;
    this.#cancelTimer();
    const message =
      `The heartbeat thread of ${this.#base.agent} ended (${why}). Heartbeats go on from the main thread: ` +
      "a handler that blocks it for longer than the lease loses its work.";
    this.#base.warn({ reason: "heartbeat_thread_lost", message });
    this.#instead = new BeatLoop(this.#base.link, this.#base.surroundings, this.#onOver);
    for (const lease of this.#leases.values()) this.#instead.hold(lease);
    this.#ready.resolve();
  }
}
