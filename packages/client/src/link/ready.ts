/** Whether an answer is what a waiting call waited for, or only the end of that wait. */

import type { OperationName, Operations } from "@handfast/protocol/wire";
import type { Call } from "./link.ts";

type Reply<Name extends OperationName> = Operations[Name]["reply"];
type Tests = { readonly [Name in OperationName]?: (reply: Reply<Name>, call: Call<Name>) => boolean };

const open: ReadonlySet<string> = new Set(["queued", "delivered", "working", "waiting"]);
const unacknowledged: ReadonlySet<string> = new Set(["queued", "delivered"]);

const tests: Tests = {
  submit: ({ state }) => !open.has(state),
  get: ({ state }, { query }) => !(query?.until === "acknowledged" ? unacknowledged : open).has(state),
  handoff_events: ({ events, ended }) => events.length > 0 || ended,
  correlation_events: ({ events, ended }) => events.length > 0 || ended,
  read_chunks: ({ text, state }) => text !== "" || !open.has(state),
  outcomes: ({ handoffs }) => handoffs.length > 0,
  claim: ({ leases }) => leases.length > 0,
  questions: ({ questions }) => questions.length > 0,
  negotiate: ({ open: isOpen }) => !isOpen,
  negotiation: ({ open: isOpen }) => !isOpen,
  proposals: ({ proposals }) => proposals.length > 0,
  question: ({ resolution, open: isOpen }) => resolution !== null || !isOpen,
};

/** Operations that do not wait are always answered. */
export function isReady<Name extends OperationName>(name: Name, call: Call<Name>, reply: Reply<Name>): boolean {
  const test = tests[name] as ((reply: Reply<Name>, call: Call<Name>) => boolean) | undefined;
  return test?.(reply, call) ?? true;
}
