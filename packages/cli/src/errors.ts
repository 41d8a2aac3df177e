/**
 * What went wrong, told to a person: what happened, what to do, and where to read more (`handfast explain REASON`).
 * Never a stack, unless --debug asks for it or the fault is our own.
 */

import type { HandoffView } from "@handfast/protocol/wire";
import { type ExitName, exitCode } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";
import { cleanText } from "./text.ts";

/** What this command itself finds wrong. */
export class CliError extends Error {
  override name = "CliError";
  readonly exit: ExitName;
  readonly remedy: string;
  /** Stable, snake_case; null: there is no page about it. */
  readonly reason: string | null;

  constructor(exit: ExitName, message: string, remedy = "", reason: string | null = null) {
    super(message);
    this.exit = exit;
    this.remedy = remedy;
    this.reason = reason;
  }
}

export interface Told {
  readonly exit: ExitName;
  readonly message: string;
  readonly remedy: string;
  readonly reason: string | null;
  /** Status code of the handoff or call; null: none. */
  readonly code: number | null;
  readonly handoff: string | null;
  /** Page about it. */
  readonly docs: string | null;
}

/** The client's errors, by shape: loading the client for their classes alone would slow every command. */
interface ClientError extends Error {
  readonly retryable: boolean;
  readonly reason: string;
  readonly remedy: string;
  readonly docs?: string;
  readonly code?: unknown;
  readonly handoff?: unknown;
}

function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && "retryable" in error && "reason" in error && "remedy" in error;
}

/** The stable name of what went wrong; null: it has none. */
export function reasonOf(error: unknown): string | null {
  return isClientError(error) || error instanceof CliError ? error.reason : null;
}

/** `aborted` is the reason of the context's own signal, if it did. */
export function tell(error: unknown, aborted: unknown = null): Told {
  const nothing = { remedy: "", reason: null, code: null, handoff: null, docs: null };
  if (error instanceof CliError) {
    const { exit, message, remedy, reason } = error;
    return { ...nothing, exit, message, remedy, reason };
  }
  if (error !== null && error === aborted) return { ...nothing, exit: "interrupted", message: "Interrupted." };
  if (isClientError(error)) {
    const { message, remedy, reason, docs = null } = error;
    const code = typeof error.code === "number" ? error.code : null;
    const handoff = typeof error.handoff === "string" ? error.handoff : null;
    return { exit: exitOf(error, code), message, remedy, reason, code, handoff, docs };
  }
  if (isFileFault(error)) return { ...nothing, ...fileFault(error) };
  return { ...nothing, exit: "internal", message: error instanceof Error ? error.message : String(error) };
}

const exitsByCode: Readonly<Record<number, ExitName>> = {
  400: "data",
  401: "denied",
  403: "denied",
  404: "missing",
  409: "data",
  413: "data",
  422: "data",
};

function exitOfCode(code: number, retryable: boolean): ExitName {
  return exitsByCode[code] ?? (retryable ? "retryable" : "ended");
}

/** How a command ends that waited for this handoff. */
export function exitOfHandoff({ state, code, retryable }: HandoffView): ExitName {
  return state === "completed" ? "ok" : exitOfCode(code, retryable);
}

function exitOf({ reason, name, retryable }: ClientError, code: number | null): ExitName {
  if (reason === "relay_unreachable") return "unreachable";
  if (name === "UsageError") return "usage";
  if (code !== null) return exitOfCode(code, retryable);
  return retryable ? "retryable" : "internal";
}

type FileFault = NodeJS.ErrnoException;

/** Reading a folder as a file does not say which one it was. */
function isFileFault(error: unknown): error is FileFault {
  if (!(error instanceof Error) || !("syscall" in error)) return false;
  return ("path" in error && typeof error.path === "string") || ("code" in error && error.code === "EISDIR");
}

function fileFault({ code, path = "What was named", message }: FileFault): Pick<Told, "exit" | "message" | "remedy"> {
  if (code === "EISDIR") {
    return { exit: "missing", message: `${path} is a folder, not a file.`, remedy: "Name a file." };
  }
  if (code === "ENOENT") {
    return { exit: "missing", message: `There is no file ${path}.`, remedy: "Check the path." };
  }
  if (code === "EACCES" || code === "EPERM") {
    return { exit: "denied", message: `${path} may not be used by this user.`, remedy: "Check its owner and mode." };
  }
  return { exit: "output", message: `${path} cannot be used: ${message}.`, remedy: "Check the path and the disk." };
}

/** Writes it to stderr, as JSON with --json, and answers the exit code. */
export function report(error: unknown, terminal: Terminal, aborted: unknown = null): number {
  const told = inCliWords(tell(error, aborted));
  // Whoever stopped it knows.
  const isStopped = error !== null && error === aborted;
  if (isStopped) return exitCode(told.exit);
  if (terminal.json) {
    const { exit, ...rest } = told;
    terminal.note(JSON.stringify({ error: { ...rest, exit_code: exitCode(exit) } }));
  } else {
    terminal.note(`${terminal.accent("red", "error:")} ${cleanText(told.message)}`);
    const word = explainWord(told);
    if (told.remedy !== "" && !isSaid(told)) terminal.note(terminal.spelled(cleanText(told.remedy)));
    if (told.code !== null && told.reason !== null && word !== told.reason) {
      terminal.note(terminal.accent("dim", `reason ${cleanText(told.reason)}`));
    }
    // The client names whatever the call was about: of a contract, its hash.
    const is_handoff = told.handoff !== null && !/^[0-9a-f]{64}$/.test(told.handoff);
    if (is_handoff) terminal.note(terminal.accent("dim", `handoff ${cleanText(told.handoff ?? "")}`));
    if (word !== null) {
      terminal.note(terminal.accent("dim", terminal.spelled(`more: handfast explain ${cleanText(word)}`)));
    }
  }
  if (terminal.debug && error instanceof Error) terminal.note(stackOf(error));
  else if (told.exit === "internal") {
    terminal.note("This is a fault of handfast, not yours. Run it again with --debug and report what it shows.");
  }
  return exitCode(told.exit);
}

/** What a relay says to everybody may say already what the remedy does. */
function isSaid({ message, remedy }: Told): boolean {
  return message.toLowerCase().includes(remedy.replace(/\.$/, "").toLowerCase());
}

/** What the wire and the client call something, as it is typed here. */
function inCliWords(told: Told): Told {
  return { ...told, message: optionWords(told.message), remedy: optionWords(told.remedy) };
}

function optionWords(text: string): string {
  return text
    .replace(/^Call with the operator's token: the file/, "Give the operator's token with --token-file: it is the file")
    .replaceAll(/(?<!-)\bqueue_if_absent\b/g, "--queue-if-absent")
    .replaceAll(/the (agent's )?schema is in the list of agents/g, "`handfast agents show AGENT` shows the schema");
}

/** A reason that an agent made up has no page; that of its code, which the client links to, has. */
function explainWord({ reason, docs }: Told): string | null {
  const [, code] = /#(\d{3})-/.exec(docs ?? "") ?? [];
  return code ?? reason;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
