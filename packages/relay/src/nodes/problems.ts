/** What an operator is told who asks for a node that cannot be drained. */

import type { Time } from "@handfast/core";
import type { NodeView } from "@handfast/protocol/wire";
import { Problem } from "../problem.ts";

export function unknownNode(name: string, living: readonly NodeView[]): Problem {
  const names = living.map((node) => JSON.stringify(node.name)).join(", ");
  const detail = `No node ${JSON.stringify(name)} was heard of in the last minutes; there is ${names || "none"}.`;
  return new Problem(404, "unknown_node", detail);
}

export function gone(called: readonly NodeView[], now: Time): Problem {
  const last = called.reduce((one, other) => (other.heard_at > one.heard_at ? other : one));
  const seconds = Math.max(0, Math.round((now - last.heard_at) / 1_000));
  const what = last.state === "ended" ? "ended" : "was last heard of";
  const detail = `The node ${JSON.stringify(last.name)} ${what} ${seconds} s ago; nothing is left to drain there.`;
  return new Problem(404, "node_gone", detail);
}

export function notAmongSeveral(): Problem {
  const detail =
    "This relay is alone with its store, and its work could go nowhere else. To stop it, send it SIGTERM: it finishes what was asked, and leases are kept.";
  return new Problem(409, "not_among_several", detail);
}
