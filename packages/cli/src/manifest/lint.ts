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
    const serving = faults > 0 || file === "-" ? null : servingLine(file, value);
    if (serving !== null) terminal.next(serving);
  }
  return faults > 0 || (options.flag("strict") && warnings > 0) ? "ended" : "ok";
}

/** What to type to serve a manifest without a fault; null: it offers nothing. */
export function servingLine(file: string, value: unknown): string | null {
  const [first] = (value as ManifestContent).capabilities;
  return first === undefined ? null : `handfast serve ${first.name} --manifest ${file} -- COMMAND`;
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
