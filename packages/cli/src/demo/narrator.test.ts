import type { HandoffEvent } from "@handfast/client";
import { expect, test } from "vitest";
import { Terminal } from "../terminal.ts";
import { Narrator } from "./narrator.ts";

test("events are told as lines, also a delivery that says why it went there", () => {
  const said: string[] = [];
  const sink = { write: (text: string) => said.push(text) > 0 };
  const narrator = new Narrator(
    new Terminal({ out: sink, err: sink, json: false, plain: true, debug: false, env: {} }),
  );
  const tell = (event: object) => narrator.event(event as HandoffEvent);
  tell({ seq: 1, at: 1_000, type: "accepted", code: 202, evidence: "signed" });
  tell({ seq: 2, at: 1_010, type: "delivered", code: 210, worker: "w-1", fence: 1, why: { rule: "only", among: 1 } });
  tell({ seq: 3, at: 3_010, type: "requeued", code: 521, worker: "w-1", fence: 1, why: "lease_lost" });
  expect(said.join("").trimEnd().split("\n")).toEqual([
    "        +0 ms  202 accepted     signed",
    "       +10 ms  210 delivered    by w-1 · fence 1",
    "     +2010 ms  521 requeued     lease lost · by w-1 · fence 1",
  ]);
});
