/** A program as the handler of a capability: input in, output out, its exit code as the outcome. */

import { isUtf8 } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import { type Client, type Context, Fail, Retry } from "@handfast/client";
import { parseStrictBytes } from "@handfast/protocol/client";
import type { Environment } from "../command.ts";
import { Control } from "./control.ts";
import { serveLimits as limits } from "./limits.ts";
import { programEnvironment } from "./program-environment.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";

export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Environment;
  /** Text in and out, not JSON. */
  readonly text: boolean;
  /** What it writes goes to the sender as it comes. */
  readonly stream: boolean;
  /** The most that a payload holds at this relay. */
  readonly output_bytes: number;
}

const retryable_exit = 75;

/** Throws Fail or Retry, which the client turns into the outcome. */
export async function runForHandoff(program: Program, client: Client, input: unknown, ctx: Context): Promise<unknown> {
  const { env, remove } = await programEnvironment(client, ctx, program.env);
  const decoder = new StringDecoder("utf8");
  const control = new Control(ctx);
  try {
    const end = await runProgram({
      command: program.command,
      cwd: program.cwd,
      env,
      stdin: program.text ? String(input) : `${JSON.stringify(input)}\n`,
      output_bytes: program.output_bytes,
      signal: ctx.signal,
      onNote: (line) => ctx.progress(...progressIn(line)),
      onControl: (line) => control.line(line),
      ...(program.stream ? { onOutput: (bytes: Buffer) => ctx.write(decoder.write(bytes)) } : {}),
    });
    await control.settled();
    // Not the program's doing: the client knows whether it was canceled, lost, or is to be given back.
    if (end.kind === "stopped") throw ctx.signal.reason;
    return outputOf(end, program);
  } finally {
    await remove();
  }
}

/** `45 %` at the beginning of a line says how far it is; the rest is the note. */
function progressIn(line: string): [fraction: number | undefined, note: string | undefined] {
  const [, percent, rest = ""] = /^\s*(\d{1,3}(?:\.\d+)?)\s?%\s*(.*)$/.exec(line) ?? [];
  if (percent === undefined || Number(percent) > 100) return [undefined, line.trim()];
  return [Number(percent) / 100, rest.trim() === "" ? undefined : rest.trim()];
}

function outputOf(end: Exclude<ProgramEnd, { kind: "stopped" }>, program: Program): unknown {
  const [name] = program.command;
  switch (end.kind) {
    case "exited":
      if (end.code === 0) return program.text ? textOf(end.output, name) : parsed(end.output, name);
      throw exitFailure(end.code, end.stderr, name);
    case "killed":
      throw failure(`killed_by_${end.signal}`, `${name} was killed by ${end.signal}`, end.stderr, {});
    case "too_much": {
      const most = `${(program.output_bytes / 1e6).toFixed(1)} MB`;
      const what = `${name} wrote more than ${most} to stdout, the most that a payload holds, and was stopped`;
      throw failure("output_too_large", what, end.stderr, {});
    }
    case "not_started":
      throw new Retry(`${name} could not be started: ${end.error.message}`);
    default:
      return end satisfies never;
  }
}

function exitFailure(code: number, stderr: string, name: string): Error {
  const what = `${name} exited with ${code}`;
  if (code === retryable_exit) return new Retry(withStderr(what, stderr));
  return failure(`exit_${code}`, what, stderr, { exit_code: code });
}

function failure(reason: string, what: string, stderr: string, detail: object): Fail {
  return new Fail(withStderr(what, stderr), { reason, detail: { ...detail, ...(stderr === "" ? {} : { stderr }) } });
}

/** The end of it says most: the message holds as much as fits, the detail the whole tail. */
function withStderr(what: string, stderr: string): string {
  const said = stderr.trim();
  if (said === "") return what;
  const shown = said.length > limits.message_chars ? `…${said.slice(-limits.message_chars).toWellFormed()}` : said;
  return `${what}: ${shown}`;
}

function textOf(output: Buffer, name: string): string {
  if (isUtf8(output)) return output.toString("utf8");
  const message = `${name} exited with 0, but what it wrote to stdout is not UTF-8 text. Write text, or JSON with the bytes in base64.`;
  throw new Fail(message, { reason: "stdout_not_text" });
}

/** Nothing written is null. */
function parsed(output: Buffer, name: string): unknown {
  if (output.toString("latin1").trim() === "") return null;
  const read = parseStrictBytes(output, { max_depth: 64 });
  if (read.ok) return read.value;
  const { reason, path } = read.fault;
  const why = `${reason.replaceAll("_", " ")}${path === "" ? "" : ` at ${path}`}`;
  const message = `${name} exited with 0, but what it wrote to stdout is not JSON (${why}). Write JSON, or serve with --text.`;
  throw new Fail(message, { reason: "stdout_not_json" });
}
