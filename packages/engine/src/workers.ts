/** Workers that ask for work, and those heard of lately: who is free, and who is worth waiting for. */

import type { FreeWorker, Handoff, Ready, Time } from "@handfast/core";
import { type ClaimGroup, ClaimGroups } from "./claim-groups.ts";
import type { EngineLimits } from "./limits.ts";
import type { Claim } from "./requests.ts";
import type { UnitBuilder } from "./unit.ts";

/** A claim that waits. */
export interface WaitingClaim {
  readonly claim: Claim;
  readonly since: Time;
  /** Leased in the batch under way; handed over when it is committed. */
  given: { readonly handoff: Handoff; readonly unit: UnitBuilder }[];
  /** Set while it waits. */
  group: ClaimGroup | null;
  /** Its time was over while a batch was giving it something. */
  overdue: boolean;
  finish(leases: readonly Handoff[]): void;
  fail(error: unknown): void;
}

/** A worker heard of again so soon is not news. */
const heard_again_ms = 1_000;

/** How many old answers are looked at for each new one: two, so that more are forgotten than come. */
const answers_looked_at = 2;

export class Workers {
  readonly #limits: EngineLimits;
  readonly #waiting = new Set<WaitingClaim>();
  readonly #waitingIn = new Map<string, number>();
  readonly groups = new ClaimGroups();
  readonly #byWorker = new Map<string, Set<WaitingClaim>>();
  readonly #byRequest = new Map<string, WaitingClaim>();
  readonly #seen = new Map<string, { readonly namespace: string; readonly worker: FreeWorker; at: Time }>();
  /** What each claim was answered with: repeated, it gets the same leases. */
  readonly #answered = new Map<string, readonly string[]>();
  readonly #toldAgain = new Set<string>();
  /** Workers whose leases from before the relay's start are known. */
  readonly #recalled = new Set<string>();

  /** Whether a worker holds this handoff now: answers that are still of use must not be forgotten. */
  readonly #isLeased: (namespace: string, id: string) => boolean;

  constructor(limits: EngineLimits, isLeased: (namespace: string, id: string) => boolean) {
    this.#limits = limits;
    this.#isLeased = isLeased;
  }

  get waiting(): ReadonlySet<WaitingClaim> {
    return this.#waiting;
  }

  get namespaces(): ReadonlySet<string> {
    return new Set(this.#waitingIn.keys());
  }

  add(waiting: WaitingClaim): void {
    this.#waiting.add(waiting);
    this.groups.join(waiting);
    const { namespace } = waiting.claim;
    this.#waitingIn.set(namespace, (this.#waitingIn.get(namespace) ?? 0) + 1);
    this.#byRequest.set(requestKey(waiting.claim), waiting);
    const key = workerKey(waiting.claim);
    const own = this.#byWorker.get(key) ?? new Set();
    this.#byWorker.set(key, own.add(waiting));
  }

  remove(waiting: WaitingClaim): void {
    if (!this.#waiting.delete(waiting)) return;
    this.groups.leave(waiting);
    const { namespace } = waiting.claim;
    const left = (this.#waitingIn.get(namespace) ?? 1) - 1;
    if (left > 0) this.#waitingIn.set(namespace, left);
    else this.#waitingIn.delete(namespace);
    const request = requestKey(waiting.claim);
    if (this.#byRequest.get(request) === waiting) this.#byRequest.delete(request);
    const key = workerKey(waiting.claim);
    const own = this.#byWorker.get(key);
    own?.delete(waiting);
    if (own?.size === 0) this.#byWorker.delete(key);
  }

  /** The same request asked again while its first asking still waits: the newer one takes its place. */
  sameRequest(claim: Claim): WaitingClaim | undefined {
    return this.#byRequest.get(requestKey(claim));
  }

  seen(claim: Pick<Claim, "namespace" | "agent" | "worker">, queues: ReadonlySet<string> | null, now: Time): void {
    const key = workerKey(claim);
    const known = this.#seen.get(key);
    if (queues === null && (known === undefined || now - known.at < heard_again_ms)) return;
    const worker = {
      agent: claim.agent,
      worker: claim.worker,
      queues: queues ?? known?.worker.queues ?? new Set<string>(),
      slots: 0,
      since: now,
    };
    this.#seen.delete(key);
    this.#seen.set(key, { namespace: claim.namespace, worker, at: now });
    // In order of time, so that only those at the front can be silent for too long.
    for (const [oldest, { at }] of this.#seen) {
      if (now - at <= this.#limits.worker_silent_ms) break;
      this.#seen.delete(oldest);
    }
  }

  isAsking(worker: Pick<Claim, "namespace" | "agent" | "worker">): boolean {
    return this.#byWorker.has(workerKey(worker));
  }

  hasFreeSlot(namespace: string): boolean {
    for (const { claim, given } of this.#waiting) {
      if (claim.namespace === namespace && given.length < claim.slots) return true;
    }
    return false;
  }

  /**
   * Those with free slots for one of these. Where one of them would rather go to a certain worker, or to any but a certain one,
   * also those that live but are busy: it may wait for them.
   */
  live(namespace: string, ready: readonly Ready[], now: Time): readonly FreeWorker[] {
    const queues = new Set(ready.map(({ queue }) => queue));
    const free: FreeWorker[] = [];
    const asking = new Set<string>();
    const isChoosy = ready.some(({ avoid, prefer }) => avoid !== null || prefer !== null);
    const groups = new Set([...queues].flatMap((queue) => [...this.groups.serving(namespace, queue)]));
    for (const { claims } of groups) {
      for (const { claim, since, given } of claims) {
        if (isChoosy) asking.add(workerKey(claim));
        const { agent, worker, queues: served } = claim;
        free.push({ agent, worker, queues: served, slots: claim.slots - given.length, since });
      }
    }
    if (!isChoosy) return free;
    for (const [key, { namespace: theirs, worker, at }] of this.#seen) {
      if (now - at > this.#limits.worker_silent_ms) this.#seen.delete(key);
      else if (theirs === namespace && !asking.has(key) && serves(worker, queues)) free.push(worker);
    }
    return free;
  }

  /** These leases were told once more: a first telling that got lost is no reason to give them back. */
  toldAgain(handoffs: readonly Handoff[]): void {
    if (this.#toldAgain.size > this.#limits.remembered_requests) this.#toldAgain.clear();
    for (const { accepted, fence } of handoffs) this.#toldAgain.add(leaseKey(accepted.namespace, accepted.id, fence));
  }

  wasToldAgain(namespace: string, id: string, fence: number): boolean {
    return this.#toldAgain.has(leaseKey(namespace, id, fence));
  }

  /** A waiting claim of this worker that serves the queue and has a slot left. */
  claimFor(namespace: string, agent: string, worker: string, queue: string): WaitingClaim | undefined {
    for (const waiting of this.#byWorker.get(workerKey({ namespace, agent, worker })) ?? []) {
      const { claim, given } = waiting;
      if (claim.queues.has(queue) && given.length < claim.slots) return waiting;
    }
    return undefined;
  }

  answeredWith(claim: Claim): readonly string[] | undefined {
    return this.#answered.get(requestKey(claim));
  }

  rememberAnswer(request: Pick<Claim, "namespace" | "agent" | "worker" | "request_id">, ids: readonly string[]): void {
    const key = requestKey(request);
    this.#answered.delete(key);
    this.#answered.set(key, ids);
    this.#forgetAnswers(request.namespace);
  }

  /** The oldest go first, but none whose leases still live: they may yet be asked for again. */
  #forgetAnswers(namespace: string): void {
    let looked = 0;
    for (const [oldest, ids] of this.#answered) {
      if (this.#answered.size <= this.#limits.remembered_requests || looked >= answers_looked_at) return;
      looked += 1;
      this.#answered.delete(oldest);
      // Kept ones go to the back, so that the next look finds others.
      if (ids.some((id) => this.#isLeased(namespace, id))) this.#answered.set(oldest, ids);
    }
  }

  /** Whether its leases from before the relay's start were looked up on disk. */
  isRecalled(claim: Claim): boolean {
    return this.#recalled.has(workerKey(claim));
  }

  recalled(claim: Claim): void {
    // Forgetting costs no more than another look.
    if (this.#recalled.size >= this.#limits.remembered_requests) this.#recalled.clear();
    this.#recalled.add(workerKey(claim));
  }

  /** After a failed commit: what was remembered may not be true. Claims go on waiting. */
  forget(): void {
    this.#answered.clear();
    this.#recalled.clear();
    this.groups.forget();
  }
}

function serves({ queues }: FreeWorker, wanted: ReadonlySet<string>): boolean {
  for (const queue of wanted) if (queues.has(queue)) return true;
  return false;
}

function leaseKey(namespace: string, id: string, fence: number): string {
  return `${namespace} ${id} ${fence}`;
}

/** Names hold no space. */
function workerKey({ namespace, agent, worker }: Pick<Claim, "namespace" | "agent" | "worker">): string {
  return `${namespace} ${agent} ${worker}`;
}

function requestKey({
  namespace,
  agent,
  worker,
  request_id,
}: Pick<Claim, "namespace" | "agent" | "worker" | "request_id">): string {
  return `${namespace} ${agent} ${worker} ${request_id}`;
}
