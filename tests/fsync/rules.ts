/** What must be in a trace for a confirmation to be true: the bytes, then their sync, and only then the answer. */

import { basename, dirname } from "node:path";
import type { TracedCall } from "../support/strace.ts";

const writes: ReadonlySet<string> = new Set(["write", "writev", "pwrite64", "pwritev", "pwritev2"]);
const sends: ReadonlySet<string> = new Set(["write", "writev", "sendto", "sendmsg", "sendmmsg"]);
const syncs: ReadonlySet<string> = new Set(["fsync", "fdatasync"]);
/** The write-ahead log, which every change of the store goes through. */
export const store_log = "handfast.db-wal";

/** An answer that says yes, over HTTP or in a frame of a WebSocket. */
const isReply = ({ name, on, said }: TracedCall) =>
  sends.has(name) && on.startsWith("TCP:") && /"HTTP\/1\.1 2|\\"replies\\":\[.*\\"status\\":2/.test(said);

/**
 * Written files whose content counts. The shared-memory index is made anew after a crash; pages that move from the
 * write-ahead log into the database stay in the log until the database is synced.
 */
function isKept(path: string): boolean {
  return !path.endsWith("-shm") && basename(path) !== "handfast.db";
}

/** What is wrong with a confirmation; empty: it came after everything was safe. `in_file`: how the name ends of what must be written. */
export function faultsOfConfirmation(
  step: readonly TracedCall[],
  directory: string,
  in_file: string,
): readonly string[] {
  const replies = step.filter(isReply);
  if (replies.length === 0) return ["no answer in the trace"];
  return replies.flatMap((reply) => faultsBefore(step, reply, directory, in_file));
}

function faultsBefore(
  step: readonly TracedCall[],
  reply: TracedCall,
  directory: string,
  in_file: string,
): readonly string[] {
  const before = step.filter(({ ended, on }) => ended < reply.began && on.startsWith(`${directory}/`));
  const last = new Map<string, TracedCall>();
  for (const call of before) if (writes.has(call.name) && isKept(call.on)) last.set(call.on, call);
  if (![...last.keys()].some((path) => path.endsWith(in_file))) return ["answered before anything was written"];
  const unsafe = [...last].filter(([path, write]) => !isSynced(step, path, write, reply)).map(([path]) => path);
  return [
    ...unsafe.map((path) => `${basename(path)} was not synced before the answer`),
    ...unsafeNames(step, directory, reply),
  ];
}

function isSynced(calls: readonly TracedCall[], path: string, after: TracedCall, before: TracedCall): boolean {
  return calls.some(
    ({ name, on, began, ended, result }) =>
      syncs.has(name) && on === path && result === 0 && began > after.ended && ended < before.began,
  );
}

/**
 * After a sync of the log that failed nobody knows what of the log is on disk, and a later sync of the same pages proves
 * nothing: what was in it must have been written once more, into the log anew or into the database, and synced there.
 */
export function faultsAfterFailedSync(step: readonly TracedCall[], directory: string): readonly string[] {
  const path = (name: string) => `${directory}/${name}`;
  const failed = step.find(({ name, on, result }) => syncs.has(name) && on === path(store_log) && result < 0);
  const reply = step.find(isReply);
  if (failed === undefined) return ["no sync failed"];
  if (reply === undefined) return ["no answer in the trace"];
  if (reply.began < failed.began) return ["answered before the sync"];
  const later = step.filter(
    ({ name, began, ended }) => writes.has(name) && began > failed.ended && ended < reply.began,
  );
  const again = [path(store_log), path("handfast.db")].some((file) => {
    const last = later.findLast(({ on }) => on === file);
    return last !== undefined && isSynced(step, file, last, reply);
  });
  return again ? [] : ["answered on the strength of a log whose sync had failed"];
}

/** What is wrong with an answer that promises nothing: it cost a write or a sync. */
export function faultsOfPassing(step: readonly TracedCall[], directory: string): readonly string[] {
  const costs = step.filter(
    ({ name, on }) => (syncs.has(name) || writes.has(name)) && on.startsWith(`${directory}/`) && !on.endsWith("-shm"),
  );
  return [
    ...(step.some(isReply) ? [] : ["no answer in the trace"]),
    ...costs.map(({ name, on }) => `${name} on ${basename(on)}`),
  ];
}

/** Before the relay's first answer: names that a power failure could take back. */
export function faultsOfStart(calls: readonly TracedCall[], directory: string): readonly string[] {
  const reply = calls.find(isReply);
  return reply === undefined ? ["no answer in the trace"] : unsafeNames(calls, directory, reply);
}

/** A name is safe once the folder that holds it was synced. Drafts and locks need no safe name. */
function unsafeNames(calls: readonly TracedCall[], directory: string, reply: TracedCall): readonly string[] {
  const made = calls.filter(({ ended, result }) => ended < reply.began && result >= 0).flatMap(nameMadeBy);
  return made
    .filter(({ path }) => `${path}/`.startsWith(`${directory}/`) || directory.startsWith(`${path}/`))
    .filter(({ path }) => !/\.new$|\/incoming\/|-journal$|-shm$|handfast\.lock$|\/incoming$/.test(path))
    .filter(({ path, call }) => !isSynced(calls, dirname(path), call, reply))
    .map(({ path }) => `the name of ${basename(path)} was not synced in its folder`);
}

function nameMadeBy(call: TracedCall): readonly { readonly path: string; readonly call: TracedCall }[] {
  const paths = [...call.said.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, path = ""]) => path);
  const path = call.name.startsWith("mkdir") ? paths[0] : isMove(call) ? paths[1] : isNew(call) ? paths[0] : undefined;
  return path === undefined ? [] : [{ path, call }];
}

function isMove({ name }: TracedCall): boolean {
  return name.startsWith("rename") || name.startsWith("link");
}

function isNew({ name, said }: TracedCall): boolean {
  return name === "openat" && /O_CREAT\|O_EXCL/.test(said);
}
