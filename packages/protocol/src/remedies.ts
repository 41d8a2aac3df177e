/** For every status code and every reason: why it happens, and what to do. docs/errors.md is made from it. */

import { clientReasons } from "./remedies/clients.ts";
import { codeRemedies } from "./remedies/codes.ts";
import { contractReasons } from "./remedies/contracts.ts";
import { discoveryReasons } from "./remedies/discovery.ts";
import { frameReasons } from "./remedies/frames.ts";
import { handoffReasons } from "./remedies/handoffs.ts";
import { identityReasons } from "./remedies/identity.ts";
import type { Reason, Remedy } from "./remedies/reason.ts";
import { requestReasons } from "./remedies/requests.ts";
import { routingReasons } from "./remedies/routing.ts";
import { transportReasons } from "./remedies/transport.ts";
import { type Status, statusCode } from "./status-codes.ts";

export { codeRemedies, type Reason, type Remedy };

export interface AnchoredRemedy extends Remedy {
  /** Where it stands in docs/errors.md. */
  readonly anchor: string;
}

/** In the order in which they are explained. */
export const reasonTables: readonly { readonly title: string; readonly reasons: readonly Reason[] }[] = [
  { title: "Handoffs", reasons: handoffReasons },
  { title: "Routing", reasons: routingReasons },
  { title: "Contracts", reasons: contractReasons },
  { title: "Identity", reasons: identityReasons },
  { title: "Discovery", reasons: discoveryReasons },
  { title: "Requests", reasons: requestReasons },
  { title: "Transport and the relay itself", reasons: transportReasons },
  { title: "WebSocket", reasons: frameReasons },
  { title: "The client's own", reasons: clientReasons },
];

const all = reasonTables.flatMap(({ reasons }) => reasons);
const byReason: ReadonlyMap<string, readonly Reason[]> = Map.groupBy(all, ({ reason }) => reason);

/**
 * By the reason, where it is known; else by the code. A reason that an agent made up falls back on its code, and a code
 * that is not known on the lowest of its hundred. Code 0: no relay said it.
 */
export function remedyOf(code: number, reason?: string): AnchoredRemedy {
  const found = reason === undefined ? undefined : findReason(code, reason);
  if (found !== undefined) return { cause: found.cause, remedy: found.remedy, anchor: anchorOfReason(found) };
  const status = statusCode(code) ?? (code >= 500 ? statusCode(500) : statusCode(code >= 400 ? 400 : 200));
  return { ...codeRemedies[status.code], anchor: anchorOfCode(status) };
}

function findReason(code: number, reason: string): Reason | undefined {
  // An agent's own reason may be spelt like one of the relay's: only with the right code it is that one.
  return byReason.get(reason)?.find(({ codes }) => code === 0 || codes.length === 0 || codes.includes(code));
}

/** A reason that means two things has two places; the second one's is told apart by its code. */
export function anchorOfReason(row: Reason): string {
  const first = byReason.get(row.reason)?.[0];
  return first === row || first === undefined ? row.reason : `${row.reason}-${row.codes[0]}`;
}

export function anchorOfCode({ code, name }: Status): string {
  return `${code}-${name}`;
}
