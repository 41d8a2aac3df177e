/** From what a relay answered, over whatever link, to the error that a caller gets. */

import { HandoffError, type ProblemDocument } from "../errors.ts";
import { ComeBack, isPassing } from "./persist.ts";

/** What a link does about a refusal before anybody is told. */
export type Refusal =
  | { readonly kind: "unknown_agent"; readonly error: HandoffError }
  | { readonly kind: "stale_credential"; readonly error: HandoffError }
  | { readonly kind: "final"; readonly error: Error };

export function isProblem(value: unknown): value is ProblemDocument {
  if (typeof value !== "object" || value === null) return false;
  const { code, reason, detail }: { code?: unknown; reason?: unknown; detail?: unknown } = value;
  return typeof code === "number" && typeof reason === "string" && typeof detail === "string";
}

/** Where the user of this client does something else about it than whoever speaks to the relay by hand. */
const remedies: Readonly<Record<string, string>> = {
  wrong_issuer:
    "Connect under the name that the key is registered for (option agent, HANDFAST_AGENT), or with another key.",
  wrong_audience: "Connect by one of the relay's own URLs, or let its operator add this one to public_urls.",
  credential_from_the_future: "Set this machine's clock (or the relay's): they may differ by 10 seconds.",
  credential_expired: "Set this machine's clock (or the relay's): they may differ by 10 seconds.",
  id_time: "Set this machine's clock (or the relay's): ids carry the time they were made at.",
  unknown_token: "Set HANDFAST_TOKEN (option token) to one that this relay gave out and has not revoked.",
  bad_signature: "Connect with the key that the relay knows this agent by (option key, HANDFAST_KEY).",
};

/** `handoff`: which one the call was about, where it was about one. */
export function refusalOf(problem: ProblemDocument, handoff: string | null, retry_after_ms: number): Refusal {
  const error = HandoffError.from(problem, handoff, remedies[problem.reason]);
  if (problem.code === 401 && problem.reason === "unknown_key") return { kind: "unknown_agent", error };
  if (problem.code === 401 && problem.reason.startsWith("credential_")) return { kind: "stale_credential", error };
  return { kind: "final", error: isPassing(error) ? new ComeBack(error, retry_after_ms) : error };
}
