import type { CorrelationNode, HandoffView } from "@handfast/protocol/wire";
import { expect, test } from "vitest";
import { endedView, heldView, plainLook, sampleId, sampleView } from "../testing/sample.ts";
import { joinTrees } from "./join-trees.ts";
import { type Correlation, treeLines } from "./tree-lines.ts";

const id = (last: string) => `${sampleId.slice(0, -4)}${last.padStart(4, "0")}`;
const node = (handoff: HandoffView, ...children: CorrelationNode[]): CorrelationNode => ({ handoff, children });

function correlation(tree: CorrelationNode[], by_state: Record<string, number>): Correlation {
  const total = Object.values(by_state).reduce((sum, count) => sum + count, 0);
  const summary = { total, open: 0, ended: 0, by_state, by_code: {} };
  return { correlation_id: "nightly-7", summary, tree, cursor: null };
}

test("the tree shows state, code, agent, duration, end of the id, and how far each is", () => {
  const child = (last: string, change: Partial<HandoffView>) =>
    heldView({ id: id(last), capability: "search", ...change });
  const tree = [
    node(
      heldView({ id: id("1"), capability: "report" }),
      node(
        child("2", { progress: { fraction: 0.4, note: "reading", at: 0 } }),
        node(sampleView({ id: id("4"), capability: "fetch", attempts: 2 })),
      ),
      node(
        endedView(
          "failed",
          500,
          { reason: "boom", message: "the disk is full" },
          { id: id("3"), capability: "search" },
        ),
      ),
    ),
  ];
  expect(treeLines(correlation(tree, { working: 2, queued: 1, failed: 1 }), plainLook)).toEqual([
    "correlation nightly-7",
    "report       working 211  upper-1  5 s   00000001",
    "├─ search    working 211  upper-1  5 s   00000002  40 % reading",
    "│  └─ fetch  queued 202   –        5 s   00000004  attempt 2",
    "└─ search    failed 500   upper-1  30 s  00000003  the disk is full",
    "4 handoffs: 2 working, 1 queued, 1 failed",
  ]);
});

test("a question that is open is told", () => {
  const question = { id: `${sampleId}:q`, fence: 1, asked_at: 0, answer_by: 0, to: "desk", parked: true };
  const [, line] = treeLines(
    correlation([node(heldView({ state: "waiting", code: 213, question }))], { waiting: 1 }),
    plainLook,
  );
  expect(line).toContain("asks desk");
});

test("parts of a large correlation become one tree, whatever part a child comes in", () => {
  const parent = node(heldView({ id: id("1") }));
  const child = node(heldView({ id: id("2"), causation: { id: id("1"), fence: 1 } }));
  const joined = joinTrees([correlation([parent], { working: 1 }), correlation([child], { working: 1, queued: 1 })]);
  expect(joined.tree).toEqual([node(parent.handoff, child)]);
  expect(joined.summary).toMatchObject({ total: 3, by_state: { working: 2, queued: 1 } });
});
