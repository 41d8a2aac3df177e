/** Asks a person for what a manifest still lacks, one thing at a time, and again where the answer would be refused. */

import { lintManifest, parseStrict } from "@handfast/protocol";
import { manifestChecks } from "@handfast/relay/manifest-checks";
import { readDuration } from "../options.ts";
import type { Draft, Members } from "./draft.ts";

/** What a person sees and types. */
export interface Person {
  ask(question: string): Promise<string>;
  tell(line: string): void;
}

interface Question {
  readonly field: string;
  readonly text: string;
  /** Undefined: leave it out. */
  readonly read: (answer: string) => unknown;
  readonly is_needed?: true;
}

const words = (answer: string) => (answer === "" ? undefined : answer);
const number = (answer: string) => (answer === "" ? undefined : numberOf(answer));
const schema = (answer: string) => (answer === "" ? {} : jsonOf(answer));

const questions: readonly Question[] = [
  { field: "name", text: "Capability, such as web_research", read: words, is_needed: true },
  { field: "description", text: "What it does, in a sentence (empty: not said)", read: words },
  {
    field: "input_schema",
    text: 'What it takes, such as {"query": "string", "depth": "int?"} (empty: anything)',
    read: schema,
  },
  { field: "output_schema", text: 'What it gives, such as {"summary": "string"} (empty: anything)', read: schema },
  {
    field: "timeout_seconds",
    text: "Longest time of one attempt, such as 30s or 5m, or in seconds [300]",
    read: (answer) => secondsOf(answer || "300"),
  },
  { field: "reliability_sla", text: "Share of attempts that succeed, such as 0.95 (empty: not claimed)", read: number },
  { field: "version", text: "Version of the capability, such as 1.0.0 (empty: none)", read: words },
  {
    field: "tags",
    text: "Tags, with spaces between them (empty: none)",
    read: (answer) => (answer === "" ? undefined : answer.split(/\s+/)),
  },
  {
    field: "cost",
    text: "Cost of a handoff, in millionths of the unit of account (empty: not said)",
    read: costOf,
  },
];

export async function askForRest(person: Person, draft: Draft): Promise<Draft> {
  const agent_id = draft.agent_id ?? String(await answered(person, "Name of the agent", words, true, faultOfName));
  const capabilities: Members[] = [];
  for (const given of draft.capabilities.length === 0 ? [{}] : draft.capabilities) {
    capabilities.push(await askForCapability(person, given));
  }
  while (/^y(es)?$/i.test(await person.ask("Another capability? [y/N]"))) {
    capabilities.push(await askForCapability(person, {}));
  }
  return { ...draft, agent_id, capabilities };
}

async function askForCapability(person: Person, given: Members): Promise<Members> {
  let capability: Members = given;
  for (const { field, text, read, is_needed = false } of questions) {
    if (capability[field] !== undefined) continue;
    const so_far = capability;
    const fault = (value: unknown) => faultOf({ ...so_far, [field]: value }, field);
    capability = { ...so_far, [field]: await answered(person, text, read, is_needed, fault) };
  }
  return capability;
}

async function answered(
  person: Person,
  text: string,
  read: (answer: string) => unknown,
  is_needed: boolean,
  faultIn: (value: unknown) => string | null,
): Promise<unknown> {
  for (;;) {
    const value = read((await person.ask(`${text}:`)).trim());
    const fault =
      value === undefined
        ? is_needed
          ? "This is needed."
          : null
        : value instanceof Unread
          ? value.fault
          : faultIn(value);
    if (fault === null) return value;
    person.tell(fault);
  }
}

function faultOf(capability: Members, field: string): string | null {
  const plain = JSON.parse(JSON.stringify({ name: "unnamed", ...capability })) as Members;
  return firstFault({ agent_id: "a", capabilities: [plain] }, `/capabilities/0/${field}`);
}

function faultOfName(value: unknown): string | null {
  return firstFault({ agent_id: value, capabilities: [] }, "/agent_id");
}

function firstFault(manifest: unknown, path: string): string | null {
  const found = lintManifest(manifest, manifestChecks()).find(
    (finding) => finding.kind === "fault" && finding.path.startsWith(path),
  );
  return found === undefined ? null : `${found.path.slice(path.length)} ${found.message} ${found.remedy}`.trim();
}

/** An answer that could not be read, and why. */
class Unread {
  readonly fault: string;

  constructor(fault: string) {
    this.fault = fault;
  }
}

function jsonOf(answer: string): unknown {
  const parsed = parseStrict(answer, { max_depth: 64 });
  if (parsed.ok) return parsed.value;
  return new Unread(
    `${JSON.stringify(answer)} is not JSON. Write an object with quotes around every word: {"query": "string"}`,
  );
}

function numberOf(answer: string): number | Unread {
  return isNumber(answer) ? Number(answer) : new Unread(`${JSON.stringify(answer)} is no number.`);
}

function isNumber(answer: string): boolean {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(answer);
}

function costOf(answer: string): unknown {
  if (answer === "") return undefined;
  const amount = numberOf(answer);
  return amount instanceof Unread ? amount : { amount, per: "handoff" };
}

/** As `--timeout` takes it, or bare seconds. */
function secondsOf(answer: string): unknown {
  const ms = readDuration(answer);
  if (ms !== null) return Math.ceil(ms / 1_000);
  const what = `${JSON.stringify(answer)} is no number of seconds and no duration, such as 30s or 5m.`;
  return isNumber(answer) ? Number(answer) : new Unread(what);
}
