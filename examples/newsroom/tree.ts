/** The correlation as a tree, with who did what in which framework, and every signature checked here. */

import type { Client, HandoffView, Proven } from "@handfast/client";
import { table } from "../../packages/cli/src/table.ts";

interface Node {
  readonly handoff: HandoffView;
  readonly children: readonly Node[];
}

export interface Tree {
  readonly lines: readonly string[];
  readonly proven: readonly Proven[];
}

export async function treeOf(
  operator: Client,
  correlation: string,
  frameworks: ReadonlyMap<string, string>,
): Promise<Tree> {
  const { tree } = await operator.call("correlation", { params: { id: correlation } });
  const proven = new Map<string, Proven>();
  for (const { id } of tree.flatMap(flat)) proven.set(id, await operator.handle(id).proofs());
  const rows = tree.flatMap((node) => rowsOf(node, "", ""));
  return { lines: table(rows), proven: [...proven.values()] };

  function rowsOf({ handoff, children }: Node, first: string, rest: string): string[][] {
    const below = children.flatMap((child, at) => {
      const is_last = at === children.length - 1;
      return rowsOf(child, `${rest}${is_last ? "└─ " : "├─ "}`, `${rest}${is_last ? "   " : "│  "}`);
    });
    return [[`${first}${handoff.capability}`, ...cells(handoff)], ...below];
  }

  function cells({ id, from, outcome, state, code, attempts }: HandoffView): string[] {
    const agent = outcome?.agent ?? "–";
    const receipts = proven.get(id)?.receipts ?? [];
    const signed = receipts.filter(({ evidence }) => evidence === "signed").map(({ kind }) => kind);
    return [
      `${from} → ${agent}`,
      frameworks.get(agent) ?? "",
      `${state} ${code}${attempts > 1 ? `, attempt ${attempts}` : ""}`,
      `signed: ${signed.join(", ")}`,
    ];
  }
}

function flat({ handoff, children }: Node): HandoffView[] {
  return [handoff, ...children.flatMap(flat)];
}
