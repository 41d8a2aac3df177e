/** What a pair cannot get away with. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SenderSeat } from "../cast/row.ts";
import type { SenderCommand } from "../protocol.ts";
import { Holds } from "./holds.ts";
import type { Operator } from "./operator.ts";
import { cancel, type Pair, scatter } from "./pair.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "handfast-pair-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A pair that says it did everything, with what the relay knows of it. */
function pair(act: (command: SenderCommand) => void, operator: Partial<Operator>): Pair {
  const said: Record<string, unknown> = {
    sent: "h",
    canceled: "canceled",
    scattered: Array.from({ length: 10 }, (_, nth) => ({ text: `PART ${nth}`, by: "w" })),
  };
  const sender = { tell: act, heard: async (_: string, member: string) => said[member] } as unknown as SenderSeat;
  return {
    sender,
    worker: "w",
    capability: "task-w",
    holds: new Holds(folder, 200),
    operator: operator as Operator,
    missed_after_ms: 1,
    signed: { sender: true, worker: true },
  };
}

function holdIn(command: SenderCommand): string | undefined {
  return "send" in command ? command.send.input.hold : undefined;
}

test("a worker that goes on though it was called off fails the pair", async () => {
  const handoff = async () => ({ code: 410 }) as never;
  const deaf = (command: SenderCommand) => {
    const hold = holdIn(command);
    if (hold !== undefined) writeFileSync(`${hold}.begun`, "");
  };
  await expect(cancel(pair(deaf, { handoff }))).rejects.toThrow("the worker did not stop in 200 ms");
  const obedient = (command: SenderCommand) => {
    deaf(command);
    const hold = holdIn(command);
    if (hold !== undefined) writeFileSync(`${hold}.stopped`, "");
  };
  await cancel(pair(obedient, { handoff }));
});

test("ten that were not sent under one correlation fail the pair, though each was answered", async () => {
  const asOne = Array.from({ length: 10 }, () => ({ capability: "task-w" }) as never);
  await scatter(pair(() => {}, { correlated: async () => asOne }));
  const alone = scatter(pair(() => {}, { correlated: async () => [] }));
  await expect(alone).rejects.toThrow("not all were sent under the one correlation");
});
