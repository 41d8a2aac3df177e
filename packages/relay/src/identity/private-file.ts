/**
 * Secrets in files: readable by their owner only, made whole or not at all, never read when others could have.
 * Synchronous, because they are read once, before the relay listens.
 */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError } from "../configuration/configuration.ts";

const owner_only = 0o600;
const others = 0o077;

/** The text of the file; null: there is none. Throws ConfigurationError when others may read or write it. */
export function readPrivateFile(path: string): string | null {
  const file = openExisting(path);
  if (file === null) return null;
  try {
    // Asked of the open file, not of the path, which could be exchanged in between.
    const { mode } = fstatSync(file);
    if (process.platform !== "win32" && (mode & others) !== 0) {
      const wide = (mode & 0o777).toString(8).padStart(4, "0");
      const next = `If nobody else has read it, run: chmod 600 ${path}. Else delete it and let a new one be made.`;
      throw new ConfigurationError(
        `The secret in ${path} is open to others (mode ${wide}), so it is not used. ${next}`,
      );
    }
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Makes the file; false: another process was first, and its file stays. */
export function createPrivateFile(path: string, text: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  const file = openSync(draft, "wx", owner_only);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // A link, not a rename: it fails where a file is already there.
    linkSync(draft, path);
    syncDirectory(dirname(path));
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** Or a loss of power could undo the name. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function openExisting(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
