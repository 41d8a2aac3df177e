/** From what core refused to the problem that the caller is told. */

import type { Refusal } from "@handfast/core";
import { statusCode } from "@handfast/protocol";
import { Problem } from "../problem.ts";

export function refused(refusal: Refusal, extra: Readonly<Record<string, unknown>> = {}): Problem {
  const status = statusCode(refusal.code);
  if (status === undefined) throw new Error(`core refused with the unknown code ${refusal.code}`);
  return new Problem(status.code, refusal.reason, sentence(refusal.message), { ...refusal.extra, ...extra });
}

/** The same for a handoff that is not there and for one that is not the caller's: neither is told apart. */
export function unknownHandoff(id: string): Problem {
  return new Problem(404, "unknown_handoff", `There is no handoff ${id}, or it is not yours to see.`);
}

function sentence(message: string): string {
  const capital = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
