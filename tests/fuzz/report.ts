/** What a run found, for people: figures, what was reached, and of a failure the seed and the smallest input. */

import type { Bug } from "../support/put-back.ts";
import type { Failure, Script } from "./run/episode.ts";
import { type RunReport, slow_from_inputs } from "./run/run.ts";
import type { Shrunk } from "./run/shrink.ts";

const shown_chars = 1_500;

export function reportText(report: RunReport): string {
  const { tally, aftermath, rss_mb, faults, seed } = report;
  const seconds = report.took_ms / 1_000;
  const lines = [
    "",
    `seed                ${seed}`,
    `inputs              ${tally.inputs} in ${seconds.toFixed(1)} s (${Math.round(tally.inputs / seconds)}/s), ${(tally.bytes / 1e6).toFixed(1)} MB`,
    `  of them           ${counts(tally.kinds)}`,
    `answers             ${counts(tally.statuses)}`,
    `closes              ${counts(tally.closes)}`,
    `reasons             ${tally.reasons.size} different`,
    `mutations           ${tally.mutations.size} kinds, ${sum(tally.mutations)} times`,
    `operations          ${tally.operations.size}: ${operationLines(report)}`,
    `states made         ${counts(tally.states)}`,
    `half-sent requests  ${halfSent(report)}`,
    `honest              ${report.honest_completed} handoffs completed, ${report.honest_called_off} called off by an operator, slowest ${report.honest_slowest_ms} ms; ${tally.honest_calls} calls of the cast`,
    `health              ${report.probes} probes, slowest ${report.probe_slowest_ms} ms`,
    `memory              ${rss_mb.first} MB first, ${rss_mb.median} median, ${rss_mb.last} last, ${rss_mb.most} most`,
    `processor           ${perInput(report.cpu_ms.fuzzer, tally.inputs)} ms of the fuzzer and ${perInput(report.cpu_ms.relay, tally.inputs)} ms of the relay for an input`,
    `warnings logged     ${report.warnings}`,
    ...(aftermath === null
      ? []
      : [
          `store               ${aftermath.handoffs} handoffs, ${aftermath.events} events, sound; ${JSON.stringify(aftermath.states)}`,
        ]),
    "",
    faults.length === 0 ? "0 faults" : `${faults.length} FAULT(S)`,
    ...faults.map((fault) => `- ${fault.slice(0, 3_000)}`),
  ];
  return `${lines.join("\n")}\n`;
}

function halfSent({ slow_begun, slow_answered }: RunReport): string {
  if (slow_begun !== null) return `${slow_begun}, ${slow_answered} answered, the others cut`;
  return `none: below ${slow_from_inputs} inputs the slow ones are sent whole`;
}

function perInput(ms: number, inputs: number): string {
  return (ms / Math.max(1, inputs)).toFixed(2);
}

function counts(map: ReadonlyMap<string, number>): string {
  const sorted = [...map].toSorted(([, a], [, b]) => b - a);
  return sorted.map(([name, number]) => `${name} ${number}`).join(", ");
}

function sum(map: ReadonlyMap<string, number>): number {
  return [...map.values()].reduce((total, each) => total + each, 0);
}

function operationLines({ tally }: RunReport): string {
  return [...tally.operations]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { done, refused }]) => `${name} ${done}/${refused}`)
    .join(", ");
}

function replayCommand({ seed, episode, steps, without }: Script, bug: Bug | undefined): string {
  const left_out = [...without].flatMap(([step, places]) => [...places].map((place) => `${step}:${place}`));
  const options = [
    `--seed ${seed} --episode ${episode} --steps ${steps.join(",") || "none"}`,
    ...(left_out.length === 0 ? [] : [`--without ${left_out.join(",")}`]),
    ...(bug === undefined ? [] : [`--bug ${bug.name}`]),
  ];
  return `npm run fuzz -- ${options.join(" ")}`;
}

/** `bug`: the one that was put back, without which it would not fail again. */
export function shrunkText({ script, replayed, replays }: Shrunk, bug: Bug | undefined): string {
  const { failure, episode } = replayed;
  const lines = [
    `smallest failing input, after ${replays} replays:`,
    ...(failure === null ? [] : [`  what: ${failure.what.slice(0, 2_000)}`]),
    ...episode.sent.map(({ step, kind, played }) => {
      const how = played.done.length === 0 ? "sound" : played.done.join("; ");
      return `  step ${step}, ${kind}, as ${played.persona} (${how}):\n    ${escaped(played.bytes)}`;
    }),
    `again: ${replayCommand(script, bug)}`,
  ];
  return `${lines.join("\n")}\n`;
}

export function failureText(failure: Failure | null): string {
  if (failure === null) return "it does not fail\n";
  const { script, step, kind, what, played } = failure;
  const bytes = played === null ? "" : `\n  ${escaped(played.bytes)}`;
  return `step ${step} of episode ${script.episode}, ${kind}: ${what}${bytes}\n`;
}

/** As it stands in a string, so that it can be copied. */
function escaped(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString("latin1"));
  return text.length > shown_chars ? `${text.slice(0, shown_chars)}… (${bytes.length} bytes)` : text;
}
