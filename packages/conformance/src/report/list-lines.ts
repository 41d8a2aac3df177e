/** The promises that would be tried, for a person to choose from. */

import { type Check, transportsOf } from "../check.ts";

export function listLines(checks: readonly Check[]): readonly string[] {
  const lines: string[] = [];
  for (const [section, ofSection] of Map.groupBy(checks, (check) => check.section)) {
    lines.push(`spec/${section}`);
    for (const check of ofSection) {
      const { id, promise, needs = [] } = check;
      const besides = [...transportsOf(check), ...needs.map((need) => `needs ${need.replaceAll("_", " ")}`)];
      lines.push(`  ${id.padEnd(12)} ${promise} (${besides.join(", ")})`);
    }
  }
  return lines;
}
