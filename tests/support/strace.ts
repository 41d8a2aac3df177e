/** What a process asks of the kernel, as strace writes it down: which calls, on what, in which order. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** One call of one thread. Places in the trace tell the order: one that ended before another began came before it. */
export interface TracedCall {
  readonly thread: string;
  readonly name: string;
  /** What its first argument, or the answer of one that opens something, stands for: a path or a connection. */
  readonly on: string;
  readonly said: string;
  readonly began: number;
  readonly ended: number;
  readonly result: number;
}

const watched = [
  "fsync,fdatasync,sync_file_range,msync",
  "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg",
  "read,readv,recvfrom,recvmsg",
  "openat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat",
].join(",");

/** Why there can be no trace here; null: there can. */
export function whyNoTrace(): string | null {
  const { error } = spawnSync("strace", ["-V"]);
  if (error !== undefined) return "strace is not installed";
  const tried = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]);
  return tried.status === 0 ? null : "strace may not trace a process here";
}

/** Every thread, descriptors with what they stand for, and enough of what was said. */
export const trace_options = ["-f", "-yy", "-s", "400", "-e", `trace=${watched}`] as const;

/** The process stays the starter's own child: the tracer is the one that stands aside. */
export function tracedInto(file: string): readonly string[] {
  return ["strace", "-D", "-q", "--seccomp-bpf", ...trace_options, "-o", file];
}

/** After the process was ended: waits until the tracer has written everything. */
export async function readTrace(file: string, pid: number): Promise<readonly TracedCall[]> {
  const last = new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)`, "m");
  for (;;) {
    const text = readFileSync(file, "utf8");
    if (last.test(text)) return parseTrace(text);
    await sleep(20);
  }
}

interface Unfinished {
  readonly name: string;
  readonly said: string;
  readonly began: number;
}

const whole = /^(\d+) +(\w+)\((.*)\) += (-?\d+)(.*)$/;
const begun = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/;
const resumed = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)(.*)$/;

export function parseTrace(text: string): readonly TracedCall[] {
  const open = new Map<string, Unfinished>();
  const calls: TracedCall[] = [];
  for (const [place, line] of text.split("\n").entries()) {
    const [, starter = "", started = "", words = ""] = begun.exec(line) ?? [];
    if (started !== "") {
      open.set(starter, { name: started, said: words, began: place });
      continue;
    }
    const [, finisher = "", finished = "", rest = "", late_result = "", late_answer = ""] = resumed.exec(line) ?? [];
    const unfinished = open.get(finisher);
    if (finished !== "" && unfinished !== undefined) {
      open.delete(finisher);
      const { name, said, began } = unfinished;
      calls.push(callOf(finisher, name, said + rest, began, place, Number(late_result), late_answer));
      continue;
    }
    const [, thread = "", name = "", said = "", result = "", answer = ""] = whole.exec(line) ?? [];
    if (name !== "") calls.push(callOf(thread, name, said, place, place, Number(result), answer));
  }
  return calls.sort((one, other) => one.began - other.began);
}

function callOf(
  thread: string,
  name: string,
  said: string,
  began: number,
  ended: number,
  result: number,
  answer: string,
): TracedCall {
  const on = /^\d+<(.*?)>(?=,|$)/.exec(said)?.[1] ?? /^<(.*)>$/.exec(answer)?.[1] ?? "";
  return { thread, name, on, said, began, ended, result };
}
