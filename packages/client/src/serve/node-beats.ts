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

/** A lease that is over is told with the next one that begins, or after this: long before its first beat. */
const drop_ms = 250;
/** Credentials live for five minutes and are made anew well before. */
const credential_ms = 60_000;

export class ThreadBeats implements Beats {
  readonly #base: Base;
  readonly #access: BeatAccess;
  readonly #onOver: (over: LeaseOver) => void;
  readonly #leases = new Map<string, BeatenLease>();
  /** What the thread has not been told yet. */
  readonly #begun = new Map<string, BeatenLease>();
  readonly #ended = new Map<string, BeatenLease>();
  #tells_soon = false;
  #tells_later = false;
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

  /** Whatever begins in one turn of the event loop is told in one message. The ack is answered in a later turn. */
  hold(lease: BeatenLease): void {
    const key = keyOf(lease);
    this.#leases.set(key, lease);
    if (this.#instead !== null) return this.#instead.hold(lease);
    this.#ended.delete(key);
    this.#begun.set(key, lease);
    if (this.#tells_soon) return;
    this.#tells_soon = true;
    setImmediate(() => this.#tellNews());
  }

  drop(lease: Pick<BeatenLease, "id" | "fence">): void {
    const key = keyOf(lease);
    const known = this.#leases.get(key);
    this.#leases.delete(key);
    if (this.#instead !== null) return this.#instead.drop(lease);
    if (this.#begun.delete(key) || known === undefined) return;
    this.#ended.set(key, known);
    if (this.#tells_later) return;
    this.#tells_later = true;
    this.#base.surroundings.after(drop_ms, () => {
      this.#tells_later = false;
      this.#tellNews();
    });
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

  #tellNews(): void {
    this.#tells_soon = false;
    const news = { hold: [...this.#begun.values()], drop: [...this.#ended.values()] };
    this.#begun.clear();
    this.#ended.clear();
    if (!this.#closed && news.hold.length + news.drop.length > 0) this.#tell(news);
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
