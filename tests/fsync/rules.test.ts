/** The rules of durable answers, on traces small enough to read: each can be broken, and is found. */

import { describe, expect, test } from "vitest";
import { parseTrace } from "../support/strace.ts";
import { faultsAfterFailedSync, faultsOfConfirmation, faultsOfPassing, faultsOfStart, store_log } from "./rules.ts";

const data = "/r/data";
const write = '1 pwrite64(24</r/data/handfast.db-wal>, "\\0", 24, 32) = 24';
const sync = "1 fsync(24</r/data/handfast.db-wal>) = 0";
const failed = "1 fsync(24</r/data/handfast.db-wal>) = -1 EIO (Input/output error) (INJECTED)";
const move = '2 pwrite64(23</r/data/handfast.db>, "\\0", 4096, 0) = 4096';
const settle = "2 fsync(23</r/data/handfast.db>) = 0";
const index = '1 pwrite64(25</r/data/handfast.db-shm>, "\\0", 1, 4095) = 1';
const http = '1 write(35<TCP:[127.0.0.1:1->127.0.0.1:2]>, "HTTP/1.1 202 Accepted\\r\\n"..., 300) = 300';
const frame =
  '1 write(36<TCP:[127.0.0.1:1->127.0.0.1:3]>, "\\201~{\\"replies\\":[{\\"n\\":1,\\"status\\":200,"..., 90) = 90';
const refusal = '1 write(35<TCP:[127.0.0.1:1->127.0.0.1:2]>, "HTTP/1.1 500 Internal\\r\\n"..., 300) = 300';

const calls = (...lines: readonly string[]) => parseTrace(lines.join("\n"));

describe("a confirmation", () => {
  const faults = (...lines: readonly string[]) => faultsOfConfirmation(calls(...lines), data, store_log);

  test.each([
    ["over HTTP", http],
    ["over a WebSocket", frame],
  ])("is sound after write and sync, %s", (_way, reply) => expect(faults(write, index, sync, reply)).toEqual([]));

  test.each([
    ["without a sync", [write, http]],
    ["with a sync before the last write", [write, sync, write, http]],
    ["with a sync that failed", [write, failed, http]],
    ["with a sync after the answer", [write, http, sync]],
    ["with a sync of another file", [write, settle, http]],
    ["over a WebSocket without a sync", [write, frame]],
  ])("is found %s", (_how, lines) => {
    expect(faults(...lines)).toEqual(["handfast.db-wal was not synced before the answer"]);
  });

  test("is found before its write", () => {
    expect(faults(http, write, sync)).toEqual(["answered before anything was written"]);
  });

  test("that never came is found", () => expect(faults(write, sync, refusal)).toEqual(["no answer in the trace"]));

  test("is found while the sync still runs on another thread", () => {
    const begins = "2 fsync(24</r/data/handfast.db-wal> <unfinished ...>";
    const ends = "2 <... fsync resumed>) = 0";
    expect(faults(write, begins, ends, http)).toEqual([]);
    expect(faults(write, begins, http, ends)).toEqual(["handfast.db-wal was not synced before the answer"]);
  });

  test("is found when another file that it wrote was not synced", () => {
    const bytes = '3 write(40</r/data/artifacts/incoming/a>, "x"..., 4) = 4';
    expect(faults(bytes, write, sync, http)).toEqual(["a was not synced before the answer"]);
  });
});

describe("an answer that promises nothing", () => {
  const faults = (...lines: readonly string[]) => faultsOfPassing(calls(...lines), data);

  test("is sound by itself", () => expect(faults(index, http)).toEqual([]));
  test.each([
    ["a write", write, "pwrite64 on handfast.db-wal"],
    ["a sync", sync, "fsync on handfast.db-wal"],
  ])("is found with %s", (_what, line, fault) => expect(faults(line, http)).toEqual([fault]));
});

describe("a name", () => {
  const made = `1 mkdir("${data}/artifacts", 0700) = 0`;
  const moved = `1 rename("${data}/incoming/a", "${data}/artifacts/a") = 0`;
  const parent = `1 fsync(21<${data}>) = 0`;
  const folder = `1 fsync(21<${data}/artifacts>) = 0`;
  const faults = (...lines: readonly string[]) => faultsOfStart(calls(...lines), data);

  test("is safe once its folder was synced", () => expect(faults(made, parent, moved, folder, http)).toEqual([]));
  test.each([
    ["without that", [made, http], "artifacts"],
    ["when that came before", [parent, made, http], "artifacts"],
    ["when only another folder was", [made, parent, moved, http], "a"],
  ])("is found %s", (_how, lines, name) => {
    expect(faults(...lines)).toEqual([`the name of ${name} was not synced in its folder`]);
  });
});

describe("after a sync that failed", () => {
  const faults = (...lines: readonly string[]) => faultsAfterFailedSync(calls(...lines), data);
  const unfounded = ["answered on the strength of a log whose sync had failed"];

  test("the log written and synced anew is enough", () => expect(faults(write, failed, write, sync, http)).toEqual([]));
  test("the log moved into the database is enough", () =>
    expect(faults(write, failed, move, settle, http)).toEqual([]));
  test("a second sync of the same pages is not", () => expect(faults(write, failed, sync, http)).toEqual(unfounded));
  test("a move that was not synced is not", () => expect(faults(write, failed, move, http)).toEqual(unfounded));
});
