/** The fixed set of a bulk redrive, kept from the dry run until it is run or too old. */

import { randomUUID } from "node:crypto";
import type { Time } from "@handfast/core";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { Relay } from "./relay.ts";

const kind = "redrive_plan";
const sample = 20;

interface StoredPlan {
  readonly by: string;
  readonly ids: readonly string[];
  readonly expires_at: Time;
}

export interface Plan {
  readonly plan: string;
  readonly ids: readonly string[];
}

export async function planDraft(relay: Relay, caller: Caller, ids: readonly string[]) {
  await dropOld(relay, caller.namespace);
  const plan = randomUUID();
  const expires_at = relay.engine.now() + limits.redrive_plan_life_ms;
  const value: StoredPlan = { by: caller.name, ids, expires_at };
  await relay.engine.putRecords([{ namespace: caller.namespace, kind, key: plan, expected_version: 0, value }]);
  return { plan, count: ids.length, ids: ids.slice(0, sample), expires_at };
}

/** Whoever made the plan runs it: each of its redrives is checked again anyway. */
export async function readPlan(relay: Relay, caller: Caller, plan: string): Promise<Plan> {
  const record = await relay.store.record(caller.namespace, kind, plan);
  const stored = record === null ? null : (record.value as StoredPlan);
  if (stored !== null && stored.by === caller.name && stored.expires_at > relay.engine.now()) {
    return { plan, ids: stored.ids };
  }
  throw new Problem(404, "unknown_plan", `There is no plan ${plan} of yours, or it is too old; make a dry run first.`, {
    fields: ["/plan"],
  });
}

async function dropOld(relay: Relay, namespace: string): Promise<void> {
  const old = (await relay.store.records(namespace, kind)).filter(
    ({ value }) => (value as StoredPlan).expires_at <= relay.engine.now(),
  );
  for (const { key, version } of old) {
    await relay.engine.putRecords([{ namespace, kind, key, expected_version: version, value: undefined }]);
  }
}
