/**
 * Which Host and Origin may speak to a relay in development mode, where whoever calls first is believed: a web page that
 * the developer happens to have open must not be among them (DNS rebinding, requests across sites).
 */

import type { Audience } from "../identity/audience.ts";
import { Problem } from "../problem.ts";

/** Parsed once: they change only when the relay begins to listen. */
const parsed = new WeakMap<readonly string[], readonly URL[]>();

function urlsOf(audience: Audience): readonly URL[] {
  const all = audience.reachable();
  const known = parsed.get(all) ?? all.map((url) => new URL(url));
  parsed.set(all, known);
  return known;
}

export function checkHostAndOrigin(audience: Audience, host: string | undefined, origin: string | undefined): void {
  const urls = urlsOf(audience);
  if (!urls.some((url) => url.host === host?.toLowerCase())) {
    const detail = `The Host ${JSON.stringify(host ?? "")} is not this relay's (${audience}); in development mode it must be.`;
    throw new Problem(403, "foreign_host", detail, { fields: ["Host"] });
  }
  if (origin !== undefined && !urls.some((url) => url.origin === origin.toLowerCase())) {
    const detail = `The Origin ${JSON.stringify(origin)} may not call this relay; in development mode only its own may.`;
    throw new Problem(403, "foreign_origin", detail, { fields: ["Origin"] });
  }
}
