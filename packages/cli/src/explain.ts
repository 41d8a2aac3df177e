/** `handfast explain`: what a status code or a reason means, and what to do about it. */

import {
  anchorOfCode,
  anchorOfReason,
  codeRemedies,
  type Reason,
  reasonTables,
  type Status,
  statusCodes,
} from "@handfast/protocol/client";
import { didYouMean } from "@handfast/relay/did-you-mean";
import type { Command, Context } from "./command.ts";
import { CliError } from "./errors.ts";
import { titled } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export const explainCommand: Command = {
  name: "explain",
  summary: "Says what a status code or a reason means, and what to do.",
  arguments: [
    { name: "code", help: "Such as 408, deadline_passed or relay_unreachable. None: all codes.", optional: true },
  ],
  examples: [
    { line: "explain 408", help: "A status code" },
    { line: "explain relay_unreachable", help: "A reason, as errors name it" },
    { line: "explain", help: "All codes" },
  ],
  run,
};

/** A code or reason with all that is known about it. */
interface Explained {
  readonly title: string;
  readonly mended_by: string | null;
  readonly retryable: boolean | null;
  readonly codes: readonly number[];
  readonly cause: string;
  readonly remedy: string;
  readonly docs: string;
}

const reasons = reasonTables.flatMap((each) => each.reasons);

async function run({ terminal, arguments: [word] }: Context): Promise<undefined> {
  if (word === undefined) return listCodes(terminal);
  const found = [...codesFor(word), ...reasonsFor(word)];
  if (found.length === 0) {
    const known = [...statusCodes.map(({ name }) => name), ...reasons.map(({ reason }) => reason)];
    const guess = didYouMean(word, known).trim();
    const remedy = guess === "" ? "An agent may have made it up; see all codes: handfast explain" : guess;
    throw new CliError("missing", `Nothing is known about ${JSON.stringify(word)}.`, remedy);
  }
  if (terminal.json) terminal.document({ explained: found });
  else for (const each of found) show(terminal, each);
}

function codesFor(word: string): readonly Explained[] {
  const found = statusCodes.filter(({ code, name }) => String(code) === word || name === word);
  return found.map((status) => {
    const { code, name, title, mended_by, retryable } = status as Status;
    const docs = `docs/errors.md#${anchorOfCode(status)}`;
    return { title: `${code} ${name}: ${title}`, mended_by, retryable, codes: [code], ...codeRemedies[code], docs };
  });
}

function reasonsFor(word: string): readonly Explained[] {
  // A code's name explains itself; the reason of the same name says more.
  return reasons.filter(({ reason }) => reason === word).map(explainReason);
}

function explainReason(row: Reason): Explained {
  const { reason, codes, cause, remedy, mended_by = null } = row;
  const docs = `docs/errors.md#${anchorOfReason(row)}`;
  return { title: reason, mended_by, retryable: null, codes, cause, remedy, docs };
}

function show(terminal: Terminal, { title, mended_by, retryable, codes, cause, remedy, docs }: Explained): void {
  const facts = [
    codes.length === 0 || retryable !== null ? null : `comes with ${codes.join(", ")}`,
    mended_by === null ? null : `mended by: ${mended_by}`,
    retryable === null ? null : retryable ? "a retry may help" : "a retry does not help",
  ].filter((fact) => fact !== null);
  terminal.print(terminal.style("bold", title));
  if (facts.length > 0) terminal.print(facts.join(" · "));
  terminal.print(`why:  ${cause}`);
  terminal.print(`do:   ${remedy}`);
  terminal.print(`more: ${docs}`);
  terminal.print();
}

function listCodes(terminal: Terminal): undefined {
  if (terminal.json) {
    terminal.document({ codes: statusCodes, reasons });
    return;
  }
  const rows = statusCodes.map(({ code, name, title }) => [String(code), name, title]);
  terminal.lines(
    titled(["code", "name", "meaning"], rows, { style: terminal.style.bind(terminal), edge: terminal.edge }),
  );
  terminal.next("handfast explain CODE");
}
