/** A guide of docs/frameworks/, typed as a reader types it, in a folder as after `npm install`. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { onFreePorts } from "../../../../tests/support/free-ports.ts";
import { differences, follow, readGuide } from "../../../../tests/support/guide.ts";

const root = join(import.meta.dirname, "../../../..");

/** What was printed otherwise than shown. `packages`: what the reader has installed besides Handfast. */
export async function followed(
  name: string,
  packages: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const place = mkdtempSync(join(tmpdir(), "handfast-guide-"));
  try {
    for (const each of ["handfast", "@handfast", "zod", ...packages]) link(place, `node_modules/${each}`);
    link(place, "node_modules/.bin/handfast");
    link(place, "node_modules/.bin/node");
    writeFileSync(join(place, "package.json"), '{ "type": "module" }');
    // npm takes a second each time to find the command beside it.
    writeFileSync(join(place, "node_modules/.bin/npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
    const { guide, env: ports, shown } = await onFreePorts(readGuide(join(root, `docs/frameworks/${name}.md`)));
    const path = `${join(place, "node_modules/.bin")}:${dirname(execPath)}:${env["PATH"]}`;
    const told = await follow(guide, place, { PATH: path, HOME: place, NO_COLOR: "1", ...more, ...ports });
    if (told.length === 0) throw new Error(`docs/frameworks/${name}.md has no commands`);
    return told.flatMap((each) => differences({ ...each, printed: shown(each.printed) }));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function link(place: string, name: string): void {
  mkdirSync(dirname(join(place, name)), { recursive: true });
  symlinkSync(join(root, name), join(place, name));
}
