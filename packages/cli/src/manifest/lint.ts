/** `handfast manifest lint`: every fault of a manifest file with its line and what to do. */

import type { ManifestContent } from "@handfast/protocol";
import type { Context } from "../command.ts";
import type { ExitName } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { cleanLine } from "../text.ts";
import { type PlacedFinding, readManifest, readText } from "./read-manifest.ts";

export async function lint({ terminal, options, arguments: [file = "-"], cwd }: Context): Promise<ExitName> {
  const { findings, value } = readManifest(await readText(file, cwd));
  const faults = findings.filter(({ kind }) => kind === "fault").length;
  const warnings = findings.length - faults;
  if (terminal.json) terminal.document({ file, faults, warnings, findings });
  else {
    terminal.lines(findings.map((finding) => lineOf(terminal, file, finding)));
    terminal.note(`${file === "-" ? "stdin" : file}: ${counted(faults, "fault")}, ${counted(warnings, "warning")}`);
    const served = faults > 0 || file === "-" ? null : firstName(value);
    if (served !== null) terminal.next(`handfast serve ${served} --manifest ${file} -- COMMAND`);
  }
  return faults > 0 || (options.flag("strict") && warnings > 0) ? "ended" : "ok";
}

/** Of a manifest without a fault. */
function firstName(value: unknown): string | null {
  const { capabilities } = value as ManifestContent;
  return capabilities[0]?.name ?? null;
}

/** `file:line:column: fault …`, as editors and other tools read it. */
export function lineOf(terminal: Terminal, file: string, { kind, path, line, column, message, remedy }: PlacedFinding) {
  const what = terminal.style(kind === "fault" ? "red" : "yellow", kind);
  const place = path === "" ? "the manifest" : path;
  return `${file === "-" ? "stdin" : file}:${line}:${column}: ${what} ${cleanLine(`${place} ${message} ${remedy}`)}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
