/** `handfast manifest`: looks manifest files through, and writes new ones. */

import type { Command } from "../command.ts";
import { lint } from "./lint.ts";
import { make } from "./new.ts";

export const manifestCommand: Command = {
  name: "manifest",
  summary: "Looks a manifest file through, or writes one.",
  description:
    "A manifest says what an agent offers: capabilities with their schemas, time limits, reliability, cost. A file says costs in plain; they are sealed when it is registered.",
  examples: [
    { line: "manifest new --agent research-1 --capability web_research", help: "A file to begin with" },
    { line: "manifest lint manifest.json", help: "What is wrong with it, line by line" },
  ],
  commands: [
    {
      name: "lint",
      summary: "Explains every fault of a manifest file, with its place.",
      description: "Exit 0: no fault. Exit 1: a relay would refuse it. Warnings do not count, unless --strict.",
      arguments: [{ name: "file", help: "The manifest, as JSON; - is stdin." }],
      options: [{ flags: "--strict", help: "Warnings count as faults." }],
      examples: [
        { line: "manifest lint manifest.json", help: "For people" },
        {
          line: "manifest lint - --json < manifest.json",
          help: "For programs: every finding with rule, path and line",
        },
      ],
      run: lint,
    },
    {
      name: "new",
      summary: "Writes a manifest file; on a terminal it asks for what no flag says.",
      arguments: [{ name: "file", help: "Where to; - is stdout. Default: manifest.json.", optional: true }],
      options: [
        { flags: "--agent <name>", help: "The agent's name." },
        { flags: "--capability <name>", help: "What it offers." },
        { flags: "--description <text>", help: "What the capability does." },
        { flags: "--capability-version <version>", help: "Such as 1.0.0." },
        { flags: "--input-schema <schema>", help: "Shorthand or JSON Schema, or @file.", default: "anything" },
        { flags: "--output-schema <schema>", help: "Shorthand or JSON Schema, or @file.", default: "anything" },
        { flags: "--timeout <duration>", help: "Longest time of one attempt.", default: "5m" },
        { flags: "--reliability <share>", help: "Share of attempts that succeed, such as 0.95." },
        { flags: "--window <duration>", help: "Over which time that holds." },
        { flags: "--conditions <text>", help: "On which conditions; with --window." },
        { flags: "--no-retry", help: "It must not run a second time once it began." },
        {
          flags: "--side-effects <kind>",
          help: "What a run changes.",
          choices: ["none", "reversible", "irreversible"],
        },
        { flags: "--tag <tag>", help: "May be given several times.", many: true },
        { flags: "--example <json>", help: 'Such as {"input": …, "output": …}; several times.', many: true },
        { flags: "--max-concurrent <count>", help: "Handoffs at once, over all workers." },
        { flags: "--p50 <duration>", help: "Half of the attempts take at most so long." },
        { flags: "--p95 <duration>", help: "Nearly all of the attempts take at most so long." },
        { flags: "--cost <amount>", help: "In millionths of the unit of account." },
        { flags: "--per <unit>", help: "Of what.", choices: ["handoff", "thousand_tokens"], default: "handoff" },
        { flags: "--retention <duration>", help: "How long it keeps what it is given." },
        { flags: "--region <name>", help: "Where data stay; several times.", many: true },
        { flags: "--trains <answer>", help: "Whether it trains on what it is given.", choices: ["yes", "no"] },
        { flags: "--shares <answer>", help: "Whether it passes on what it is given.", choices: ["yes", "no"] },
        {
          flags: "--proposes",
          help: "It wants to be asked before an offer is made in its name: only a program can answer, serve cannot.",
        },
        { flags: "--endpoint <url>", help: "Where else the agent can be looked up." },
        { flags: "--lease <duration>", help: "How long it stays registered without a sign of life." },
        { flags: "--manifest-version <number>", help: "Counts the agent's manifests." },
        { flags: "--force", help: "Overwrites the file." },
      ],
      examples: [
        { line: "manifest new", help: "Asks step by step" },
        {
          line: `manifest new research.json --agent research-1 --capability web_research --input-schema '{"query": "string"}' --reliability 0.95`,
          help: "Without a question, where nobody is there to answer",
        },
      ],
      run: make,
    },
  ],
};
