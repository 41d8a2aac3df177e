/** The matrix for people: on a terminal, and as docs/interop.md. */

import { firstLine, type Matrix } from "./matrix.ts";
import type { Player } from "./run.ts";
import { type Scenario, scenario_names, scenarios } from "./scenarios/scenario.ts";

export interface Report {
  readonly matrix: Matrix;
  readonly senders: readonly Player[];
  readonly workers: readonly Player[];
  /** Rows that could not take part, each with its reason. */
  readonly absent: ReadonlyMap<string, string>;
  readonly scenarios: readonly Scenario[];
  readonly conditions: string;
}

/** Frameworks that have an adapter and no row, each with what tries it instead. */
const without_row = [
  "The AI SDK and the OpenAI Agents SDK have no row. Each has a tool, a run that sleeps, and a worker, tried by the tests of its own adapter with " +
    "the real framework (`adapters/ai-sdk`, `adapters/openai-agents`; they are part of `npm test`).",
];

/** `9/9` passed of those tried; a star where a gap is named below. */
function cellText({ matrix }: Report, sender: Player, worker: Player): string {
  const cells = matrix.of(sender.row.name, worker.row.name);
  const tried = cells.filter(({ result }) => result.is !== "gap");
  const passed = tried.filter(({ result }) => result.is === "passed").length;
  const ms = cells.find(({ scenario }) => scenario === "plain")?.result;
  const time = ms?.is === "passed" ? ` · ${ms.ms} ms` : "";
  return `${passed}/${tried.length}${tried.length < cells.length ? "*" : ""}${time}`;
}

export function gridOf(report: Report): string {
  const head = ["sender \\ worker", ...report.workers.map(({ row }) => row.title)];
  const lines = report.senders.map((sender) => [
    sender.row.title,
    ...report.workers.map((worker) => cellText(report, sender, worker)),
  ]);
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Of the scenarios that were tried. */
export function gapsOf({ matrix, senders, workers, scenarios: tried }: Report): readonly string[] {
  const gaps = new Map<string, Set<string>>();
  for (const { sender, worker, scenario, result } of matrix.cells) {
    if (result.is !== "gap") continue;
    const key = `${scenario}: ${result.why}`;
    gaps.set(key, (gaps.get(key) ?? new Set()).add(`${sender} → ${worker}`));
  }
  const named = [...gaps].map(([gap, pairs]) => `${gap} (${pairs.size} ${pairs.size === 1 ? "pair" : "pairs"})`);
  const tokens = new Set([...senders, ...workers].filter(({ row }) => !row.signs).map(({ row }) => row.title));
  const attested = [...tokens].map(
    (title) => `signatures: ${title} has a token and no key; what it says is attested by the relay, and shown as such`,
  );
  return [...named, ...(tried.includes("signatures") ? attested : [])];
}

/** Rows that were asked for and did not run. */
export function absentOf({ absent }: Report): readonly string[] {
  return [...absent].map(([name, why]) => `${name} did not run: ${why}`);
}

/** What rows say of their cells. */
export function notesOf({ senders, workers }: Report): readonly string[] {
  const rows = new Set([...senders, ...workers].map(({ row }) => row));
  return [...rows].flatMap(({ title, note }) => (note === undefined ? [] : [`${title}: ${note}`]));
}

interface Failure {
  readonly where: readonly string[];
  readonly why: string;
}

/** Each reason once, with every place that it has: whoever does not start fails many cells. */
export function failuresOf({ matrix }: Report): readonly Failure[] {
  const failures = new Map<string, string[]>();
  for (const { sender, worker, scenario, result } of matrix.cells) {
    if (result.is !== "failed") continue;
    failures.set(result.why, [...(failures.get(result.why) ?? []), `${sender} → ${worker}, ${scenario}`]);
  }
  const faults = matrix.faults.map(({ where, why }) => ({ where: [where], why }));
  return [...Array.from(failures, ([why, where]) => ({ where, why })), ...faults];
}

/** Median time of each scenario over all pairs. */
function timesOf({ matrix, scenarios: tried }: Report): string {
  const lines = tried.map((scenario) => {
    const times = matrix.cells
      .flatMap((cell) => (cell.scenario === scenario && cell.result.is === "passed" ? [cell.result.ms] : []))
      .toSorted((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)];
    const most = times.at(-1);
    return `| ${scenario} | ${scenarios[scenario]} | ${times.length} | ${median ?? "–"} | ${most ?? "–"} |`;
  });
  return ["| scenario | what happens | pairs passed | median ms | most ms |", "|---|---|---|---|---|", ...lines].join(
    "\n",
  );
}

export function closingLine({ matrix }: Report): string {
  const unstopped = matrix.faults.length === 0 ? "" : `, ${matrix.faults.length} did not stop in order`;
  return `${matrix.count("passed")} passed, ${matrix.count("failed")} failed, ${matrix.count("gap")} named gaps${unstopped}`;
}

export function markdownOf(report: Report): string {
  const { workers, senders, conditions } = report;
  const players = new Map([...senders, ...workers].map((player) => [player.row.name, player]));
  const versions = [...players.values()].map(({ row, prepared }) => {
    const list = Object.entries(prepared.versions).map(([name, version]) => `${name} ${version}`);
    return `| ${row.title} | ${list.join(", ")} |`;
  });
  const gaps = gapsOf(report);
  const notes = notesOf(report);
  const failures = failuresOf(report).map(({ where, why }) => `- ${where.join("; ")}: ${firstLine(why)}`);
  return `# Frameworks with each other

<!-- Written by npm run interop -- --write. -->

\`npm run interop\` starts one relay and, for each row and column, the real framework in a process of its own with a scripted model; no network
but loopback. Each pair goes through ${scenario_names.length} scenarios. What a participant cannot do is named below, with its reason, and not counted.
[interop/README.md](../interop/README.md) says how it works and how a row is added.

A framework hands off, sleeps, wakes and works in its own way. Around that the programs use the SDK, the same for every framework in Python
(\`programs/harness.py\`) and in TypeScript (\`programs/sender.ts\`, \`programs/task.ts\`): a sender looks at progress, answers questions, calls off and verifies
signatures by its client, and a worker's own code reports progress by the handoff's context. The question itself is asked by the framework's own interrupt
or request in LangGraph and Agent Framework, and by the context in AutoGen and CrewAI. Many at once are a fan-out of the framework's own, under one
correlation. OpenClaw has a tool for each of these except the signatures.

${conditions}. **${closingLine(report)}.**

Each cell: scenarios passed of those tried, and the time of \`plain\`. A star: something is a named gap.

${gridOf(report)}

${notes.map((note) => `${note}.\n\n`).join("")}${timesOf(report)}

## Gaps

${gaps.length === 0 ? "None." : gaps.map((gap) => `- ${gap}`).join("\n")}
${failures.length === 0 ? "" : `\n## Failures\n\n${failures.join("\n")}\n`}
## Not in this matrix

${[...without_row, ...absentOf(report).map((row) => `${row}.`)].map((each) => `- ${each}`).join("\n")}

## Versions

| participant | versions |
|---|---|
${versions.join("\n")}
`;
}

/** Columns made as wide as they need to be on a terminal. */
export function aligned(table: string): string {
  const rows = table.split("\n").map((line) => line.slice(2, -2).split(" | "));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .filter((row) => row[0] !== "---")
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .join("\n");
}
