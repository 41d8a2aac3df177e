/**
 * Keys in files. A development key is made on first use: written beside its place and linked into it, so that of two
 * processes that start at once both end with the key of the one that was first.
 */

import { randomBytes } from "node:crypto";
import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UsageError } from "../errors.ts";
import type { PrivateJwk } from "./agent-key.ts";

const owner_only = 0o600;
const others = 0o077;
/** A key file is small; whatever is larger is something else. */
const file_bytes = 64_000;

export function developmentKeyPath(home: string, agent: string): string {
  return join(home, "keys", `${agent}.json`);
}

/** The text of the file; null: there is none. One that others may read is refused. */
export async function readKeyFile(path: string): Promise<string | null> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return null;
    throw unreadable(path, error);
  });
  if (file === null) return null;
  try {
    // Asked of the open file, not of the path, which could be exchanged in between.
    const { mode, size } = await file.stat();
    if (process.platform !== "win32" && (mode & others) !== 0) throw openToOthers(path, mode);
    if (size > file_bytes) throw unreadable(path, new Error(`it has ${size} bytes`));
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Writes the key; false: another process was first, and its file stays. */
export async function writeKeyFile(path: string, jwk: PrivateJwk): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
    const file = await open(draft, "wx", owner_only);
    try {
      await file.writeFile(`${JSON.stringify(jwk)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    try {
      // A link, not a rename: it fails where a file is already there.
      await link(draft, path);
      return true;
    } catch (error) {
      if (isCode(error, "EEXIST")) return false;
      throw error;
    } finally {
      await unlink(draft);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const remedy = "Set HANDFAST_HOME (option home) to a folder that can be written, or give a key (HANDFAST_KEY).";
    throw new UsageError(`The development key ${path} could not be written: ${why}.`, remedy, "key_unwritable", error);
  }
}

function openToOthers(path: string, mode: number): UsageError {
  const wide = (mode & 0o777).toString(8).padStart(4, "0");
  const message = `The key in ${path} is open to others (mode ${wide}), so it is not used.`;
  const remedy = `If nobody else has read it, run: chmod 600 ${path}. Else delete it, and rotate to a new key.`;
  return new UsageError(message, remedy, "key_open_to_others");
}

function unreadable(path: string, error: unknown): UsageError {
  const why = error instanceof Error ? error.message : String(error);
  const message = `The key file ${path} cannot be read: ${why}.`;
  return new UsageError(
    message,
    "Check the path and its permissions (option key, HANDFAST_KEY).",
    "key_unusable",
    error,
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
