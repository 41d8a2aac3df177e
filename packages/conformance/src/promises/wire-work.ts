/** wire.md, "Giving work" and "Working". */

import { toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import { newId } from "../stage/agent.ts";
import { completed, delivered, sent, working } from "../stage/scenes.ts";

const giving = "wire.md#giving-work";
const holding = "wire.md#working";

export const wireWork: readonly Check[] = [
  {
    id: "GIVE-1",
    promise: "A submit carries either `input` or `text`: both or neither is 400.",
    section: giving,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      await sender.refused("submit", { body: { capability } }, 400);
      await sender.refused("submit", { body: { capability, input: 1, text: "1" } }, 400);
      await sender.submit({ capability, input: null });
      await sender.submit({ capability, text: "" });
    },
  },
  {
    id: "GIVE-2",
    promise: "Without an id the relay makes one; a retry is one handoff by its key, also by the one beside the body.",
    section: giving,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const body = { capability, input: 1 };
      const first = await sender.submit(body, { idempotency_key: "beside" });
      const again = await sender.submit(body, { idempotency_key: "beside" });
      t.equal({ id: again.id, repeated: again.repeated }, { id: first.id, repeated: true }, "the second receipt");
      t.equal((await sender.get(first.id)).idempotency_key, "beside", "the key");
      const inBody = await sender.submit({ ...body, idempotency_key: "beside" });
      t.equal(inBody.id, first.id, "the id by the same key in the body");
      const clash = { body: { ...body, idempotency_key: "one" }, idempotency_key: "two" };
      await sender.refused("submit", clash, 400);
      t.equal((await worker.claim({ slots: 9 })).length, 1, "how many were made");
    },
  },
  {
    id: "GIVE-3",
    promise: "The order of keys does not make two plain submits different.",
    section: giving,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const first = await sender.submit({ capability, input: { a: 1, b: { c: 2, d: 3 } }, idempotency_key: "k" });
      const again = await sender.submit({ input: { b: { d: 3, c: 2 }, a: 1 }, idempotency_key: "k", capability });
      t.equal({ id: again.id, repeated: again.repeated }, { id: first.id, repeated: true }, "the second receipt");
    },
  },
  {
    id: "GIVE-4",
    promise: "Waiting on a submit waits for the end: 200 with the outcome, 202 while it is open.",
    section: giving,
    features: ["prefer_wait"],
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const waiting = sender.ok("submit", { body: { capability, input: 1 }, wait_ms: 30_000 }, 200);
      await worker.act("complete", await worker.lease(), { output: { n: 9 } });
      const { state, code, handoff } = await waiting;
      t.equal(
        { state, code, output: handoff?.outcome?.output },
        { state: "completed", code: 200, output: { n: 9 } },
        "the receipt",
      );
      const open = await sender.ok("submit", { body: { capability, input: 2 }, wait_ms: 1_000 }, 202);
      t.equal(open.state, "queued", "the state of one that is still open");
    },
  },
  {
    id: "GIVE-5",
    promise:
      "A repeated submit tells how its handoff stands now, so that a sender that lost the answer learns of the outcome.",
    section: giving,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await completed(pair, { idempotency_key: "k" });
      const again = await sent(pair, { idempotency_key: "k" });
      const { id, state, code, repeated } = again;
      t.equal(
        { id, state, code, repeated },
        { id: lease.id, state: "completed", code: 200, repeated: true },
        "the receipt",
      );
      t.equal(again.handoff?.state, "completed", "the handoff in it");
    },
  },
  {
    id: "GIVE-6",
    promise: "A contract that the relay does not know is 428.",
    section: giving,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const body = { capability, input: 1, contract: t.name("contract") };
      await sender.refused("submit", { body }, 428, "unknown_contract");
    },
  },
  {
    id: "GIVE-7",
    promise: "A malformed handoff of a batch is named by its index and its fields, and none is accepted.",
    section: giving,
    features: ["batch"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const good = { id: newId(), capability, input: 1 };
      const handoffs = [good, { capability, input: 2, colour: "red" }];
      const problem: object = await sender.refused("submit_batch", { body: { handoffs } }, 400, "unknown_field");
      const { index, fields }: { index?: unknown; fields?: unknown } = problem;
      t.equal({ index, fields }, { index: 1, fields: ["/handoffs/1/colour"] }, "where it is wrong");
      await sender.refused("get", { params: { id: good.id } }, 404, "unknown_handoff");
    },
  },
  {
    id: "GIVE-8",
    promise: "Artifacts that a handoff refers to must be up before, and have the size that is stated.",
    section: giving,
    features: ["artifacts"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const bytes = toUtf8(`bytes of ${sender.name}`);
      const sha256 = Buffer.from(nodeCrypto.sha256(bytes)).toString("hex");
      const artifact = { sha256, size: bytes.length, media_type: "text/plain" };
      const body = { capability, input: 1, artifacts: [artifact] };
      await sender.refused("submit", { body }, 404, "unknown_artifact");
      await sender.ok("put_artifact", { params: { sha256 }, bytes, content_type: "text/plain" });
      const larger = { ...body, artifacts: [{ ...artifact, size: bytes.length + 1 }] };
      await sender.refused("submit", { body: larger }, 400, "artifact_differs");
      await sender.submit(body);
    },
  },
  {
    id: "GIVE-9",
    promise: "Handoffs are listed for their parties, by state, label, correlation and time.",
    section: "wire.md#operations",
    run: async (t) => {
      const pair = await t.pair();
      const { sender } = pair;
      const done = await completed(pair, { labels: { team: "blue" }, correlation_id: t.name("g") });
      const open = await sent(pair, { labels: { team: "red:7" } });
      const list = async (query: Record<string, string | number>) =>
        (await sender.ok("list", { query })).handoffs.map(({ id }) => id);
      t.equal(await list({}), [open.id, done.id], "all, the newest first");
      t.equal(await list({ order: "oldest" }), [done.id, open.id], "all, the oldest first");
      t.equal(await list({ state: "completed" }), [done.id], "by state");
      t.equal(await list({ label: "team:red:7" }), [open.id], "by label");
      t.equal(await list({ correlation_id: done.correlation_id }), [done.id], "by correlation");
      t.equal(await list({ code: 200 }), [done.id], "by code");
      const first = await sender.ok("list", { query: { limit: 1 } });
      const next = await sender.ok("list", { query: { limit: 1, cursor: first.cursor ?? "" } });
      t.equal(
        [...first.handoffs, ...next.handoffs].map(({ id }) => id),
        [open.id, done.id],
        "page by page",
      );
    },
  },
  {
    id: "HOLD-1",
    promise: "A claim brings what is for its agent, or only of the capabilities it lists.",
    section: holding,
    run: async (t) => {
      const [a, b] = [t.name("a"), t.name("b")];
      const [sender, worker] = await Promise.all([t.agent(), t.agent(a, b)]);
      const one = await sender.submit({ capability: a, input: 1 });
      const two = await sender.submit({ capability: b, input: 2 });
      const three = await sender.submit({ to: worker.name, input: 3 });
      const four = await sender.submit({ to: worker.name, capability: b, input: 4 });
      const listed = await worker.claim({ slots: 9, capabilities: [b] });
      t.equal(
        listed.map(({ id }) => id).toSorted(),
        [two.id, four.id].toSorted(),
        "what is of the capability, sent to anybody or to its name",
      );
      const rest = [...listed, ...(await worker.claim({ slots: 9 }))].map(({ id }) => id);
      t.equal(rest.toSorted(), [one.id, two.id, three.id, four.id].toSorted(), "all of it, with the next claim");
      await worker.refused("claim", { body: { worker: "w", capabilities: [t.name("c")] } }, 404);
    },
  },
  {
    id: "HOLD-2",
    promise: "The worker that is named must be the one that holds the lease: 403, foreign_worker.",
    section: holding,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      await pair.worker.refusedAct("ack", lease, { worker: "w2" }, 403, "foreign_worker");
      await pair.worker.act("ack", lease, { worker: pair.worker.worker });
      await pair.worker.refusedAct("complete", lease, { worker: "w2", output: 1 }, 403, "foreign_worker");
    },
  },
  {
    id: "HOLD-3",
    promise: "Every act tells the worker what is left: the state, the lease's length, the rest of the deadline.",
    section: holding,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { limits: { lease_ms: 20_000, deadline_ms: 100_000 } });
      for (const op of ["ack", "heartbeat"] as const) {
        const held = await pair.worker.act(op, lease);
        const { id, fence, state, lease_ms } = held;
        t.equal(
          { id, fence, state, lease_ms },
          { id: lease.id, fence: 1, state: "working", lease_ms: 20_000 },
          `the answer to ${op}`,
        );
        t.that(held.deadline_ms > 0 && held.deadline_ms <= 100_000, "what is left of the deadline", held.deadline_ms);
      }
    },
  },
  {
    id: "HOLD-4",
    promise: "Chunks are read from any offset on; a repeated one changes nothing, a gap is 409 and names the offset.",
    section: holding,
    features: ["chunks"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const params = { id: lease.id };
      t.equal(
        (await pair.worker.act("write_chunk", lease, { offset: 0, text: "Grüße 🏔" })).offset,
        8,
        "the next offset, in UTF-16 units",
      );
      t.equal(
        (await pair.worker.act("write_chunk", lease, { offset: 0, text: "Grüße 🏔" })).offset,
        8,
        "the next offset, repeated",
      );
      t.equal(
        (await pair.worker.act("write_chunk", lease, { offset: 8, text: " again" })).offset,
        14,
        "the next offset",
      );
      const gap: object = await pair.worker.refusedAct(
        "write_chunk",
        lease,
        { offset: 20, text: "x" },
        409,
        "chunk_gap",
      );
      t.that(JSON.stringify(gap).includes("14"), "a problem that names the offset 14", gap);
      const all = await pair.sender.ok("read_chunks", { params });
      t.equal(
        { text: all.text, next: all.next, fence: all.fence },
        { text: "Grüße 🏔 again", next: 14, fence: 1 },
        "what was written",
      );
      const rest = await pair.sender.ok("read_chunks", { params, query: { offset: 8 } });
      t.equal(rest.text, " again", "what stands from the offset 8 on");
    },
  },
  {
    id: "HOLD-5",
    promise: "Chunks begin anew with a new fence, and an old fence writes no more.",
    section: "events.md#types",
    features: ["chunks"],
    run: async (t) => {
      const pair = await t.pair();
      const stale = await working(pair);
      await pair.worker.act("write_chunk", stale, { offset: 0, text: "of the first" });
      await pair.worker.act("release", stale);
      const lease = await pair.worker.lease();
      await pair.worker.act("ack", lease);
      await pair.worker.refusedAct("write_chunk", stale, { offset: 12, text: "x" }, 412, "lease_lost");
      await pair.worker.act("write_chunk", lease, { offset: 0, text: "second" });
      const { text, fence } = await pair.sender.ok("read_chunks", { params: { id: lease.id } });
      t.equal({ text, fence }, { text: "second", fence: 2 }, "what is read");
    },
  },
  {
    id: "HOLD-6",
    promise:
      "`complete` takes either `output` or `text`; what does not fit is HTTP 422 with code 502, and the lease is kept.",
    section: holding,
    run: async (t) => {
      const pair = await t.pair({ output_schema: { type: "number" } });
      const lease = await working(pair);
      await pair.worker.refusedAct("complete", lease, {}, 400);
      await pair.worker.refusedAct("complete", lease, { output: 1, text: "1" }, 400);
      const { status, body } = await pair.worker.call("complete", {
        params: { id: lease.id },
        body: { fence: lease.fence, output: "one" },
      });
      const { code, status: inside }: { code?: unknown; status?: unknown } = Object(body);
      t.equal({ status, code, inside }, { status: 422, code: 502, inside: 422 }, "the answer to what does not fit");
      await pair.worker.act("heartbeat", lease);
    },
  },
];
