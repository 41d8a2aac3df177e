/** What may be asked for as a version, whoever asks: a need, a handoff, or a route. */

import { readRange } from "@handfast/protocol";
import { Problem } from "../problem.ts";

/** What only ranges are written with: a text without any of these is a version like `nightly`, met by itself. */
const operators = /[\^~<>=|*]/;

export function checkVersionAsked(version: string, place = "/version"): void {
  if (readRange(version) !== null || !operators.test(version)) return;
  const detail = `The version ${JSON.stringify(version)} is no range. Write it as ^1.2, ~1.2.3 or ">=2 <4".`;
  throw new Problem(400, "version_range", detail, { fields: [place] });
}
