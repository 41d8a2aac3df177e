/**
 * The fixed set of a bulk redrive, kept from the dry run until it is run or too old. A caller has a few at most, the
 * oldest making room: an index per caller names them, so that nobody else's plans are looked at.
 */

import type { Time } from "@handfast/core";
import type { RecordWrite } from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { Relay } from "./relay.ts";

const kind = "redrive_plan";
const index_kind = "redrive_plan_index";
const sample = 20;
const tries_max = 10;

interface StoredPlan {
  readonly by: string;
  readonly ids: readonly string[];
  readonly expires_at: Time;
}

interface Indexed {
  readonly plan: string;
  readonly expires_at: Time;
}

export interface Plan {
  readonly plan: string;
  readonly ids: readonly string[];
}

type Keeper = Pick<Relay, "engine" | "store" | "randomBytes">;

export async function planDraft(relay: Keeper, caller: Caller, ids: readonly string[]) {
  const { namespace } = caller;
  const by = ownerOf(caller);
  const plan = makeId(relay.engine.now(), relay.randomBytes(10));
  const expires_at = relay.engine.now() + limits.redrive_plan_life_ms;
  const value: StoredPlan = { by, ids, expires_at };
  for (let tries = 0; tries < tries_max; tries++) {
    const record = await relay.store.record(namespace, index_kind, by);
    const had = (record?.value ?? []) as readonly Indexed[];
    const live = had.filter((each) => each.expires_at > relay.engine.now());
    const kept = [...live.slice(-(limits.redrive_plans_per_caller - 1)), { plan, expires_at }];
    const writes: RecordWrite[] = [
      { namespace, kind: index_kind, key: by, expected_version: record?.version ?? 0, value: kept },
      { namespace, kind, key: plan, expected_version: 0, value },
      ...dropped(namespace, had, kept),
    ];
    if (await relay.engine.putRecords(writes))
      return { plan, count: ids.length, ids: ids.slice(0, sample), expires_at };
  }
  throw new Problem(429, "busy", "Your plans keep changing; make one dry run at a time.", {}, 1);
}

/** Whoever made the plan runs it: each of its redrives is checked again anyway. */
export async function readPlan(relay: Keeper, caller: Caller, plan: string): Promise<Plan> {
  const record = await relay.store.record(caller.namespace, kind, plan);
  const stored = record === null ? null : (record.value as StoredPlan);
  if (stored !== null && stored.by === ownerOf(caller) && stored.expires_at > relay.engine.now()) {
    return { plan, ids: stored.ids };
  }
  throw new Problem(404, "unknown_plan", `There is no plan ${plan} of yours, or it is too old; make a dry run first.`, {
    fields: ["/plan"],
  });
}

/** For those who never come back: their plans go when they are too old. */
export async function dropOldPlans(relay: Keeper, namespace: string): Promise<void> {
  const now = relay.engine.now();
  for (const { key, version, value } of await relay.store.records(namespace, index_kind)) {
    const had = value as readonly Indexed[];
    const live = had.filter(({ expires_at }) => expires_at > now);
    if (live.length === had.length) continue;
    const index = { namespace, kind: index_kind, key, expected_version: version };
    // A draft that came in between wins, and drops them itself.
    await relay.engine.putRecords([
      { ...index, value: live.length === 0 ? undefined : live },
      ...dropped(namespace, had, live),
    ]);
  }
}

/** Plans are written once: their version is the first. */
function dropped(namespace: string, had: readonly Indexed[], kept: readonly Indexed[]): RecordWrite[] {
  const stays = new Set(kept.map(({ plan }) => plan));
  return had
    .filter(({ plan }) => !stays.has(plan))
    .map(({ plan }) => ({ namespace, kind, key: plan, expected_version: 1, value: undefined }));
}

/** An operator may bear an agent's name. */
function ownerOf({ role, name }: Caller): string {
  return `${role} ${name}`;
}
