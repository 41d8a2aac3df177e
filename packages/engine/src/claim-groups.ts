/**
 * Waiting claims by what they ask for: an agent and a set of queues. Work that arrives in a queue concerns only the groups
 * that serve it, so that thousands of claims for other work cost nothing.
 */

import { areAsking, type CoreLimits, type Time } from "@handfast/core";
import { Names } from "./names.ts";
import type { WaitingClaim } from "./workers.ts";

export interface ClaimGroup {
  readonly namespace: string;
  readonly agent: string;
  readonly queues: readonly string[];
  readonly claims: Set<WaitingClaim>;
  /** Queues in which something may be ready on disk that this group has not looked for. */
  readonly due: Set<string>;
  /** When the last claim of it was answered or given up; null: none was yet. */
  left_at: Time | null;
}

/** Groups are kept while nobody waits in them, so that a worker that comes back knows its queues to be empty. */
const most_groups = 10_000;

export class ClaimGroups {
  readonly #groups = new Map<string, ClaimGroup>();
  readonly #byQueue = new Map<string, Set<ClaimGroup>>();
  readonly #byAgent = new Names<Set<ClaimGroup>>();
  /** Those that may have something due, so that thousands that have not cost nothing. */
  readonly #due = new Set<ClaimGroup>();

  join(waiting: WaitingClaim): void {
    const { namespace, agent } = waiting.claim;
    const { queues } = waiting;
    const key = [namespace, agent, ...[...queues].sort()].join(" ");
    const group = this.#groups.get(key) ?? this.#found(namespace, agent, [...queues]);
    this.#groups.delete(key);
    this.#groups.set(key, group);
    group.claims.add(waiting);
    waiting.group = group;
    this.#trim();
  }

  leave(waiting: WaitingClaim, now: Time): void {
    const { group } = waiting;
    if (group === null) return;
    group.claims.delete(waiting);
    group.left_at = now;
  }

  /** Whether somebody asks for work of this queue, or did so a moment ago. */
  isAskedFor(namespace: string, queue: string, now: Time, limits: CoreLimits): boolean {
    for (const { claims, left_at } of this.serving(namespace, queue)) {
      if (areAsking({ are_waiting: claims.size > 0, left_at }, now, limits)) return true;
    }
    return false;
  }

  /** Something in this queue was left ready on disk. */
  arrived(namespace: string, queue: string): void {
    for (const group of this.#byQueue.get(queueKey(namespace, queue)) ?? []) {
      group.due.add(queue);
      this.#due.add(group);
    }
  }

  /** What was known may not be true: everybody looks again. */
  forget(): void {
    for (const group of this.#groups.values()) {
      for (const queue of group.queues) group.due.add(queue);
      this.#due.add(group);
    }
  }

  /** Groups in which somebody waits for what may be ready on disk. */
  *due(namespace: string): Iterable<ClaimGroup> {
    for (const group of this.#due) {
      if (group.due.size === 0) this.#due.delete(group);
      else if (group.claims.size > 0 && group.namespace === namespace) yield group;
    }
  }

  serving(namespace: string, queue: string): Iterable<ClaimGroup> {
    return this.#byQueue.get(queueKey(namespace, queue)) ?? [];
  }

  /** Claims of this agent; null: of all. */
  *waiting(namespace: string, agent: string | null): Iterable<WaitingClaim> {
    const own = agent === null ? this.#byAgent.of(namespace) : [this.#byAgent.get(namespace, agent) ?? []];
    for (const groups of own) for (const { claims } of groups) yield* claims;
  }

  #found(namespace: string, agent: string, queues: readonly string[]): ClaimGroup {
    const group: ClaimGroup = {
      namespace,
      agent,
      queues,
      claims: new Set<WaitingClaim>(),
      due: new Set(queues),
      left_at: null,
    };
    this.#due.add(group);
    this.#byAgent.set(namespace, agent, (this.#byAgent.get(namespace, agent) ?? new Set()).add(group));
    for (const queue of queues) {
      const key = queueKey(namespace, queue);
      this.#byQueue.set(key, (this.#byQueue.get(key) ?? new Set()).add(group));
    }
    return group;
  }

  #trim(): void {
    if (this.#groups.size <= most_groups) return;
    for (const [key, group] of this.#groups) {
      if (group.claims.size > 0) continue;
      this.#groups.delete(key);
      this.#due.delete(group);
      const others = this.#byAgent.get(group.namespace, group.agent);
      others?.delete(group);
      if (others?.size === 0) this.#byAgent.delete(group.namespace, group.agent);
      for (const queue of group.queues) {
        const own = this.#byQueue.get(queueKey(group.namespace, queue));
        own?.delete(group);
        if (own?.size === 0) this.#byQueue.delete(queueKey(group.namespace, queue));
      }
      return;
    }
  }
}

function queueKey(namespace: string, queue: string): string {
  return `${namespace} ${queue}`;
}
