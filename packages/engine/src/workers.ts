/** Workers that ask for work, and those heard of lately: who is free, and who is worth waiting for. */

import { type FreeWorker, type Handoff, queueOf, type Ready, type Time, takes } from "@handfast/core";
import { type ClaimGroup, ClaimGroups } from "./claim-groups.ts";
import type { EngineLimits } from "./limits.ts";
import type { Claim } from "./requests.ts";
import { SeenWorkers } from "./seen-workers.ts";
import type { UnitBuilder } from "./unit.ts";

/** A claim that waits. */
export interface WaitingClaim {
  readonly claim: Claim;
  /** Set once it waits. */
  queues: ReadonlySet<string>;
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

type Worker = Pick<FreeWorker, "agent" | "worker">;
type Target = Pick<Handoff["accepted"], "to" | "capability">;

/** How many old answers are looked at for each new one: two, so that more are forgotten than come. */
const answers_looked_at = 2;

export class Workers {
  readonly #limits: EngineLimits;
  readonly #waiting = new Set<WaitingClaim>();
  readonly #waitingIn = new Map<string, number>();
  readonly groups = new ClaimGroups();
  readonly #byWorker = new Map<string, Set<WaitingClaim>>();
  readonly #byRequest = new Map<string, WaitingClaim>();
  readonly #seen: SeenWorkers;
  /** What each claim was answered with: repeated, it gets the same leases. */
  readonly #answered = new Map<string, readonly string[]>();
  readonly #toldAgain = new Set<string>();
  readonly #takingBack = new Set<string>();
  /** Workers whose leases from before the relay's start are known. */
  readonly #recalled = new Set<string>();

  /** Whether a worker holds this handoff now: answers that are still of use must not be forgotten. */
  readonly #isLeased: (namespace: string, id: string) => boolean;

  readonly #onLeft: (namespace: string, agent: string, worker: string) => void;

  constructor(
    limits: EngineLimits,
    isLeased: (namespace: string, id: string) => boolean,
    onLeft: (namespace: string, agent: string, worker: string) => void = () => {},
  ) {
    this.#limits = limits;
    this.#onLeft = onLeft;
    this.#seen = new SeenWorkers(limits);
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

  remove(waiting: WaitingClaim, now: Time): void {
    if (!this.#waiting.delete(waiting)) return;
    this.groups.leave(waiting, now);
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

  /** Claims of this agent, or of all, wait for what they would ask for now. False: that is what they did. */
  requeue(namespace: string, agent: string | null, now: Time): boolean {
    let changed = false;
    for (const waiting of [...this.groups.waiting(namespace, agent)]) {
      const { claim, group } = waiting;
      this.groups.leave(waiting, now);
      waiting.queues = claim.queues();
      this.groups.join(waiting);
      if (waiting.group === group) continue;
      changed = true;
      this.seen(claim, waiting.queues, now);
    }
    return changed;
  }

  /** The same request asked again while its first asking still waits: the newer one takes its place. */
  sameRequest(claim: Claim): WaitingClaim | undefined {
    return this.#byRequest.get(requestKey(claim));
  }

  seen(claim: Pick<Claim, "namespace" | "agent" | "worker">, queues: ReadonlySet<string> | null, now: Time): void {
    this.#seen.hear(workerKey(claim), claim, queues, now);
  }

  /** Its claim was given up by whoever waited for the answer. */
  left(claim: Claim, now: Time): void {
    if (this.isAsking(claim)) return;
    this.#takingBack.delete(workerKey(claim));
    this.#seen.leave(workerKey(claim), now);
    this.#onLeft(claim.namespace, claim.agent, claim.worker);
  }

  /** It waited, and only takes that back now: so does a worker that stops, with each of its claims. */
  takesBack(claim: Claim, does: boolean): void {
    // A worker that is forgotten here is waited for for a minute.
    if (this.#takingBack.size >= this.#limits.remembered_requests) this.#takingBack.clear();
    if (does) this.#takingBack.add(workerKey(claim));
    else if (claim.wait_ms > 0) this.#takingBack.delete(workerKey(claim));
  }

  isTakingBack(claim: Claim): boolean {
    return this.#takingBack.has(workerKey(claim));
  }

  hasLeft(claim: Claim): boolean {
    return this.#seen.hasLeft(workerKey(claim));
  }

  /** Whether more than one agent was heard of that serves this queue. */
  isContested(namespace: string, queue: string): boolean {
    return haveRivals(this.groups.serving(namespace, queue));
  }

  isAsking(worker: Pick<Claim, "namespace" | "agent" | "worker">): boolean {
    return this.#byWorker.has(workerKey(worker));
  }

  /** Whether somebody waits for something that may be ready on disk. */
  areDue(): boolean {
    for (const namespace of this.namespaces) {
      for (const _ of this.groups.due(namespace)) return true;
    }
    return false;
  }

  hasFreeSlot(namespace: string): boolean {
    for (const { claim, given } of this.#waiting) {
      if (claim.namespace === namespace && given.length < claim.slots) return true;
    }
    return false;
  }

  /**
   * Those with free slots for one of these. Where one of them would rather go to a certain worker, or to any but a certain one,
   * also those that live but are busy: it may wait for them. `isUnsound`: an agent gets work of the queue only where no other
   * lives that could have it, busy or not.
   */
  live(
    namespace: string,
    ready: readonly Ready[],
    now: Time,
    isUnsound: ((agent: string, queue: string) => boolean) | null = null,
  ): readonly FreeWorker[] {
    const queues = new Set(ready.map(({ queue }) => queue));
    const free: FreeWorker[] = [];
    const asking = new Set<string>();
    const groups = new Set([...queues].flatMap((queue) => [...this.groups.serving(namespace, queue)]));
    const isChoosy =
      ready.some(({ avoid, prefer }) => avoid !== null || prefer !== null) ||
      (isUnsound !== null && haveRivals(groups) && (ready.some(isTied) || someUnsound(groups, queues, isUnsound)));
    for (const { claims } of groups) {
      for (const { claim, queues: served, since, given } of claims) {
        if (isChoosy) asking.add(workerKey(claim));
        const { agent, worker, only } = claim;
        free.push({ agent, worker, queues: served, only, slots: claim.slots - given.length, since });
      }
    }
    if (!isChoosy) return free;
    for (const agent of new Set(Array.from(groups, (group) => group.agent))) {
      for (const [key, worker] of this.#seen.of(namespace, agent, now)) {
        if (!asking.has(key) && serves(worker, queues)) free.push(worker);
      }
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

  /** A waiting claim of this worker that asks for such work and has a slot left. */
  claimFor(namespace: string, { agent, worker }: Worker, target: Target): WaitingClaim | undefined {
    const queue = queueOf(target);
    for (const waiting of this.#byWorker.get(workerKey({ namespace, agent, worker })) ?? []) {
      const { claim, queues, given } = waiting;
      const asked = { queues, only: claim.only };
      if (takes(asked, queue, target.capability) && given.length < claim.slots) return waiting;
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

/** Whether it may be worth waiting for a certain agent that is busy now. */
function isTied({ lane, conversation_id, canary }: Ready): boolean {
  return lane !== null || conversation_id !== null || canary !== null;
}

function haveRivals(groups: Iterable<ClaimGroup>): boolean {
  let first: string | undefined;
  for (const { agent } of groups) {
    if (first !== undefined && first !== agent) return true;
    first = agent;
  }
  return false;
}

function someUnsound(
  groups: Iterable<ClaimGroup>,
  queues: ReadonlySet<string>,
  isUnsound: (agent: string, queue: string) => boolean,
): boolean {
  for (const { agent, queues: served, claims } of groups) {
    if (claims.size > 0 && served.some((queue) => queues.has(queue) && isUnsound(agent, queue))) return true;
  }
  return false;
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
