/** `handfast nodes`: the nodes of a relay on one database. */

import type { NodeView } from "@handfast/protocol/wire";
import type { Command, Context } from "../command.ts";
import { ago } from "../moments.ts";
import { titled } from "../table.ts";
import { cleanLine } from "../text.ts";

export const nodesCommand: Command = {
  name: "nodes",
  summary: "Lists the nodes of the relay, and what is under way at each.",
  description:
    "For operators, at any node. A node that ended, or was not heard of for ten seconds, is listed for some minutes more.",
  connects: true,
  examples: [
    { line: "nodes", help: "Name, state, connections" },
    { line: "nodes --json", help: "For a script" },
  ],
  run,
};

async function run({ terminal, connect }: Context): Promise<undefined> {
  const client = await connect("operator", { transport: "http" });
  const page = await client.call("nodes", {});
  if (terminal.json) {
    terminal.document(page);
    return;
  }
  const now = Date.now();
  const rows = page.nodes.map((node) => [
    nodeName(node),
    node.state,
    String(node.connections),
    String(node.calls),
    String(node.claims),
    node.version,
    ago(node.since, now),
    ago(node.heard_at, now),
    node.life,
  ]);
  const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
  const titles = ["node", "state", "connections", "calls", "claims", "version", "started", "heard of", "life"];
  terminal.lines(titled(titles, rows, look));
}

export function nodeName({ name }: Pick<NodeView, "name">): string {
  return name === null ? "(alone)" : cleanLine(name);
}

/** "3 connections, 1 call, 2 claims"; null: nothing. */
export function underWay(nodes: readonly Pick<NodeView, "connections" | "calls" | "claims">[]): string | null {
  const counted = (["connections", "calls", "claims"] as const).flatMap((what) => {
    const count = nodes.reduce((sum, node) => sum + node[what], 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? what.slice(0, -1) : what}`];
  });
  return counted.length === 0 ? null : counted.join(", ");
}
