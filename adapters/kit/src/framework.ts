/** Whether the framework that is installed is one that an adapter was made for. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "@handfast/client";

export interface WantedFramework {
  /** The adapter's own name, for the message. */
  readonly adapter: string;
  /** The framework's package. */
  readonly framework: string;
  /** The oldest version that fits, such as "1.4.0". */
  readonly least: string;
  /** The first one that does not fit any more, such as "2.0.0". */
  readonly below: string;
}

/**
 * Throws where the version does not fit. `from` is the adapter's `import.meta.url`. Where no package.json can be found
 * (the framework is bundled, or not on a disk) nothing is known, and nothing is said.
 */
export function checkFramework(from: string, { adapter, framework, least, below }: WantedFramework): void {
  const version = versionOf(framework, from);
  if (version === null || (isAtLeast(version, least) && !isAtLeast(version, below))) return;
  throw new UsageError(
    `${adapter} works with ${framework} ${least} up to, not including, ${below}; installed is ${version}.`,
    `Install a version that fits: npm install ${framework}@^${least}. Or take a newer ${adapter}, if there is one.`,
    "framework_version",
  );
}

/** As a package manager lays it out: in a node_modules of the adapter's folder or of one above it. */
function versionOf(framework: string, from: string): string | null {
  if (!from.startsWith("file:")) return null;
  for (let folder = dirname(fileURLToPath(from)); ; folder = dirname(folder)) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, "node_modules", framework, "package.json"), "utf8"));
      return typeof version === "string" ? version : null;
    } catch {
      if (folder === dirname(folder)) return null;
    }
  }
}

/** By its three numbers. What comes before a release (2.0.0-beta.1) counts as that release. */
function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [numbersOf(version), numbersOf(least)];
  const index = want.findIndex((number, place) => number !== have[place]);
  return index === -1 || (have[index] ?? 0) > (want[index] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  return version.split(/[.+-]/, 3).map(Number);
}
