/** How it behaves: with the data that it is given, and to the world. What is not promised is not met. */

import type { DataPolicy } from "@handfast/protocol";
import type { Need } from "@handfast/protocol/wire";
import { type Criterion, type Looked, listed } from "../criterion.ts";
import { durationWords } from "../sentences.ts";

export function conductCriteria({ data_policy = {}, side_effects }: Need): readonly Criterion<Looked>[] {
  const { retention_seconds, regions, trains, shares } = data_policy;
  return [
    ...(retention_seconds === undefined ? [] : [kept(retention_seconds)]),
    ...(regions === undefined ? [] : [placed(regions)]),
    ...(trains === false ? [notDone("trains", "train on it")] : []),
    ...(shares === false ? [notDone("shares", "share it")] : []),
    ...(side_effects === undefined || side_effects === "irreversible" ? [] : [harmless(side_effects)]),
  ];
}

function kept(most_seconds: number): Criterion<Looked> {
  const most = durationWords(most_seconds * 1_000);
  const stated = (policy: DataPolicy | undefined) => policy?.retention_seconds;
  return {
    meets: ({ entry }) => (stated(entry.capability.data_policy) ?? Number.POSITIVE_INFINITY) <= most_seconds,
    why: ({ entry }) => `It keeps what it is given for ${keptWords(stated(entry.capability.data_policy))} at most.`,
    lacks: ({ entry }) => {
      const seconds = stated(entry.capability.data_policy);
      if (seconds === undefined) return `It does not promise to keep what it is given for ${most} at most.`;
      return `It keeps what it is given for ${keptWords(seconds)}, longer than ${most}.`;
    },
  };
}

function keptWords(seconds = 0): string {
  return durationWords(seconds * 1_000);
}

/** Wherever it works must be among the regions that are asked for. */
function placed(regions: readonly string[]): Criterion<Looked> {
  const wanted = new Set(regions);
  const outside = (policy: DataPolicy | undefined) => policy?.regions?.filter((region) => !wanted.has(region));
  return {
    meets: ({ entry }) => outside(entry.capability.data_policy)?.length === 0,
    why: ({ entry }) => `It works in ${listed(entry.capability.data_policy?.regions ?? [])} only.`,
    lacks: ({ entry }) => {
      const found = outside(entry.capability.data_policy);
      if (found === undefined) return `It does not promise to work in ${listed(regions)} only.`;
      return `It may work in ${listed(found)}, outside of ${listed(regions)}.`;
    },
  };
}

function notDone(act: "trains" | "shares", words: string): Criterion<Looked> {
  return {
    meets: ({ entry }) => entry.capability.data_policy?.[act] === false,
    why: () => `It promises not to ${words}.`,
    lacks: ({ entry }) =>
      entry.capability.data_policy?.[act] === true
        ? `It may ${words}, as it says.`
        : `It does not promise not to ${words}.`,
  };
}

const harms = ["none", "reversible", "irreversible"] as const;

function harmless(most: "none" | "reversible"): Criterion<Looked> {
  return {
    meets: ({ entry: { capability } }) =>
      capability.side_effects !== undefined && harms.indexOf(capability.side_effects) <= harms.indexOf(most),
    why: ({ entry }) =>
      entry.capability.side_effects === "none" ? "It has no side effects." : "Its side effects can be undone.",
    lacks: ({ entry: { capability } }) => {
      if (capability.side_effects === undefined) return "It does not say what side effects it has.";
      if (capability.side_effects === "irreversible") return "It has side effects that cannot be undone.";
      return "It has side effects, though they can be undone.";
    },
  };
}
