/** `handfast manifest new`: writes a manifest file from flags and, on a terminal, from what it asks for. */

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../command.ts";
import { CliError } from "../errors.ts";
import { Answers } from "./answers.ts";
import { askForRest } from "./ask.ts";
import { type Draft, draftOf, type Members } from "./draft.ts";
import { lineOf, servingLine } from "./lint.ts";
import { readManifest } from "./read-manifest.ts";

const default_timeout_seconds = 300;

export async function make(context: Context): Promise<undefined> {
  const { terminal, options, cwd } = context;
  const [file = "manifest.json"] = context.arguments;
  // Before anything is asked: nobody answers ten questions in vain.
  if (file !== "-" && !options.flag("force") && existsSync(resolve(cwd, file))) throw thereAlready(resolve(cwd, file));
  const text = `${JSON.stringify(await written(context), null, 2)}\n`;
  const { findings, value } = readManifest(Buffer.from(text));
  // Nothing was read: the lines are those of what would have been written.
  for (const finding of findings) terminal.note(lineOf(terminal, file === "-" ? "manifest" : file, finding));
  if (findings.some(({ kind }) => kind === "fault")) {
    throw new CliError(
      "usage",
      "The manifest would be refused; nothing was written.",
      "Change what the lines above name.",
    );
  }
  if (file === "-") terminal.raw(text);
  else {
    await save(resolve(cwd, file), text, options.flag("force"));
    if (terminal.json) terminal.document({ file, manifest: JSON.parse(text) });
    else terminal.note(`wrote ${file}`);
  }
  if (file !== "-") terminal.next(servingLine(file, value) ?? `handfast manifest lint ${file}`);
}

async function written(context: Context): Promise<Draft> {
  const draft = draftOf(context);
  if (context.terminal.isLive && process.stdin.isTTY === true) return asked(context, draft);
  const [capability] = draft.capabilities;
  if (draft.agent_id === undefined || capability?.["name"] === undefined) {
    const what = draft.agent_id === undefined ? "--agent" : "--capability";
    throw new CliError(
      "usage",
      `Nobody is there to be asked, and ${what} is missing.`,
      "Give --agent and --capability.",
    );
  }
  return { ...draft, capabilities: [withDefaults(capability)] };
}

async function asked({ terminal, signal }: Context, draft: Draft): Promise<Draft> {
  const answers = new Answers(process.stdin, process.stderr, signal);
  try {
    return await askForRest({ ask: (question) => answers.ask(question), tell: (line) => terminal.note(line) }, draft);
  } finally {
    answers.close();
  }
}

/** Said outright, so that nobody wonders whether it was forgotten. */
function withDefaults({ name, ...capability }: Members): Members {
  const standard = { input_schema: {}, output_schema: {}, timeout_seconds: default_timeout_seconds };
  const given = Object.entries(capability).filter(([, value]) => value !== undefined);
  return { name, ...standard, ...Object.fromEntries(given) };
}

async function save(path: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: force ? "w" : "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw thereAlready(path);
  }
}

function thereAlready(path: string): CliError {
  return new CliError("output", `${path} is there already.`, "Choose another name, or overwrite it with --force.");
}
