/** The log, for offline analysis. */

import { log_query } from "@handfast/protocol/wire";
import { exportLog } from "../log/export.ts";
import { Problem } from "../problem.ts";
import { readPosition } from "./cursor.ts";
import { operation } from "./operation.ts";
import { badCursor } from "./read.ts";

export const log = operation(
  {
    name: "log",
    method: "GET",
    path: "/v1/log",
    tag: "log",
    access: "caller",
    summary:
      "Every interaction as lines of JSON, by time, correlation or agent. An agent sees its own, an operator all.",
    query: log_query,
    replies: { 200: null },
    media_type: "application/jsonl",
    problems: [403],
  },
  async ({ relay, caller, query }) => {
    const { from, until, correlation_id, payloads = "digests", cursor } = query;
    const agent = caller.role === "operator" ? query.agent : caller.name;
    if (query.agent !== undefined && query.agent !== agent) {
      throw new Problem(403, "not_yours", "Only an operator reads the log of another agent.", { fields: ["/agent"] });
    }
    const after_pos = cursor === undefined ? 0 : readPosition(cursor);
    if (after_pos === null) throw badCursor();
    const { head, floor } = await relay.store.events({ namespace: caller.namespace, after_pos, limit: 1 });
    if (after_pos > Math.max(head, floor)) throw badCursor();
    const bytes = exportLog(relay, {
      namespace: caller.namespace,
      after_pos,
      payloads,
      ...(from === undefined ? {} : { at_from: from }),
      ...(until === undefined ? {} : { at_until: until }),
      ...(correlation_id === undefined ? {} : { correlation_id }),
      ...(agent === undefined ? {} : { agent }),
    });
    return { kind: "bytes", status: 200, headers: { "content-type": "application/jsonl" }, bytes };
  },
);
