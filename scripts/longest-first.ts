/**
 * The order of test files: those that take minutes come first, so that at the end no process works alone at one of them while the others
 * have nothing left. A clean checkout knows of no earlier run, and Vitest would begin with the largest files.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Seconds on two cores: what ends late decides how long the whole takes, so it need not be exact. */
const long: readonly string[] = [
  "packages/sim/src/sim.test.ts", // 380
  "tests/fuzz.test.ts", // 270
  "tests/crash.test.ts", // 260
  "tests/python.test.ts", // 270
  "packages/store-postgres/src/nodes-faults.test.ts", // 160
  "tests/database.test.ts", // 170
  "tests/crash-nodes.test.ts", // 130
  "packages/conformance/src/mutants/mutants.test.ts", // 120
  "tests/cluster.test.ts", // 120
  "tests/disk.test.ts", // 100
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = long.filter((path) => !existsSync(join(this.ctx.config.root, path)));
    if (gone.length > 0) throw new Error(`scripts/longest-first.ts names files that are gone: ${gone.join(", ")}.`);
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const nth = long.findIndex((path) => moduleId.endsWith(path));
      return nth === -1 ? long.length : nth;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
