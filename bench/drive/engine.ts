/** The engine and the store of ours in this one process: what transports, signatures and the client cost comes on top. */

import { randomBytes } from "node:crypto";
import type { Handoff } from "@handfast/core";
import { draft, payload } from "@handfast/core/testing";
import { type Body, Engine, realSurroundings } from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import { openSqliteStore } from "@handfast/store-sqlite";
import type { Address } from "../servers/server.ts";
import { type Driver, slots } from "./driver.ts";

const kilobyte = new Uint8Array(1_024).fill(65);
const act = (kind: Body["kind"], bytes: Uint8Array | null) => ({
  body: { kind, document: "{}", proof: null, payload: bytes },
  artifacts: [],
});
const claim_wait_ms = 200;

export async function openEngine({ directory = "" }: Address): Promise<Driver> {
  const store = await openSqliteStore({ directory });
  const engine = new Engine({ store, surroundings: realSurroundings(), others: () => 1 });
  await engine.start();
  const waiting = new Map<string, () => void>();
  let over = false;

  const serve = async ({ accepted: { id }, fence }: Handoff) => {
    const holder = { agent: "bob", fence };
    await engine.perform("default", id, { type: "ack", ...holder, evidence: "signed" }, act("ack", null));
    const said = { content: "x", evidence: "signed", usage: null, artifacts: [] } as const;
    const complete = {
      type: "complete",
      ...holder,
      worker: "bob-1",
      output: payload("x"),
      fault: null,
      ...said,
    } as const;
    await engine.perform("default", id, complete, act("outcome", kilobyte));
    waiting.get(id)?.();
    await engine.perform("default", id, { type: "take", actor: { kind: "agent", agent: "alice" } });
  };
  const claiming = (async () => {
    while (!over) {
      const leases = await engine.claim({
        namespace: "default",
        agent: "bob",
        worker: "bob-1",
        queues: () => new Set(["capability:summarize"]),
        slots,
        request_id: makeId(engine.now(), randomBytes(10)),
        wait_ms: claim_wait_ms,
        offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
      });
      for (const handoff of leases) void serve(handoff);
    }
  })();

  return {
    handoff: async () => {
      const id = makeId(engine.now(), randomBytes(10));
      const ended = new Promise<void>((resolve) => waiting.set(id, resolve));
      const body: Body = { kind: "handoff", number: 0, document: "{}", proof: null, payload: kilobyte };
      const target = { kind: "fits", except: [] } as const;
      await engine.submit([{ draft: draft({ id, content: id }), queue_if_absent: false, target, body }]);
      await ended;
      waiting.delete(id);
    },
    close: async () => {
      over = true;
      await claiming;
      await engine.stop();
      await store.close();
    },
  };
}
