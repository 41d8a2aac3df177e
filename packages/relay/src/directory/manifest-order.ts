/** Which manifest may take the place of which: with versions, only a newer one; never other content under the same version. */

import { Problem } from "../problem.ts";
import type { ManifestRef } from "./agent.ts";

export function checkOrder(
  agent: string,
  digest: string,
  version: number | undefined,
  before: ManifestRef | null,
): void {
  const inForce = before?.version;
  if (inForce === undefined || before?.digest === digest) return;
  const next = `State a version above ${inForce}.`;
  const extra = { version_in_force: inForce, digest_in_force: before?.digest };
  if (version === undefined) {
    const message = `Version ${inForce} of the manifest of ${agent} is in force, and this one states no version. ${next}`;
    throw new Problem(409, "manifest_older", message, extra);
  }
  if (version < inForce) {
    const message = `Version ${version} of the manifest of ${agent} is older than version ${inForce}, which is in force. ${next}`;
    throw new Problem(409, "manifest_older", message, extra);
  }
  if (version > inForce) return;
  const message = `Version ${version} of the manifest of ${agent} is in force with other content. ${next}`;
  throw new Problem(409, "manifest_differs", message, extra);
}
