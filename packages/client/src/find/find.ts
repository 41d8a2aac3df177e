/** Who meets a need: the relay's directory, asked by what is needed in place of a name. */

import type { Hit, Miss } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { HandoffError } from "../errors.ts";
import { checkNames, type Need, readNeed } from "./need.ts";

/** Options of `find()`. */
export interface FindOptions {
  /** How many hits at most, up to 100. Default: the relay's. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Who meets a need. Nobody is no error: `hits` is then empty, and `near` says who came nearest. */
export interface Found {
  /** The best first, each with why, what is known of its schemas, its liveness, and its claim beside what was measured. */
  readonly hits: readonly Hit[];
  /** How many meet the need in all, of those that were looked at. */
  readonly found: number;
  /** False: more might meet it than are looked at in one call; say more of what is needed. */
  readonly whole: boolean;
  /** Those that do not meet it, the nearest first, and what each lacks. */
  readonly near: readonly Miss[];
}

export async function find(base: Base, need: string | Need, options: FindOptions = {}): Promise<Found> {
  checkNames("find()", options, ["limit", "signal"]);
  const { limit, signal } = options;
  const body = { ...readNeed(need), ...(limit === undefined ? {} : { limit }) };
  try {
    const { hits, found, whole, near } = await base.link.call("discover", { body }, { signal });
    return { hits, found, whole, near };
  } catch (error) {
    const near = nearOf(error, "nobody_meets");
    if (near === null) throw error;
    return { hits: [], found: 0, whole: true, near };
  }
}

/** The nearest misses that such a refusal brings; null: it is another error. */
export function nearOf(error: unknown, reason: "nobody_meets" | "no_offer"): readonly Miss[] | null {
  if (!(error instanceof HandoffError) || error.code !== 406 || error.reason !== reason) return null;
  return listOf<Miss>(error, "near");
}

/** A list that stands in a refusal; of a relay that leaves it out, none. */
export function listOf<T>({ problem }: HandoffError, name: string): readonly T[] {
  const list = problem?.[name];
  return Array.isArray(list) ? list : [];
}
