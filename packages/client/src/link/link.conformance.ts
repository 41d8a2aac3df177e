/** One suite for every link, against a real relay: what the parts above rely on, also when the relay goes and comes. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeId, toBase64url } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { acknowledge, complete, submit, submitBatch } from "../acts.ts";
import type { Base } from "../base.ts";
import type { Client } from "../client.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { HandoffError, RelayUnreachable, UsageError } from "../errors.ts";
import { realSurroundings } from "../surroundings.ts";
import type { StreamEvent } from "./link.ts";

export function describeLink(transport: "http" | "websocket"): void {
  describe(`the link over ${transport}`, () => {
    let relay: TestRelay;
    const clients: Client[] = [];

    async function open(agent: string, options: ConnectOptions = {}): Promise<Base> {
      const key = toBase64url(realSurroundings.randomBytes(32));
      const client = await connect({ url: relay.url, agent, key, transport, ...options });
      clients.push(client);
      return client.base;
    }

    async function openWorker(...capabilities: string[]): Promise<Base> {
      const base = await open("worker");
      await base.offer(capabilities.map((name) => ({ name })));
      return base;
    }

    beforeEach(async () => {
      relay = await TestRelay.start();
    });

    afterEach(async () => {
      await Promise.all(clients.splice(0).map((client) => client.close()));
      await relay.stop();
    });

    async function claimOne(worker: Base) {
      const { leases } = await worker.link.call(
        "claim",
        { body: { worker: "w1", slots: 1, proofs: true } },
        { wait_ms: 30_000 },
      );
      const [lease] = leases;
      if (lease === undefined) throw new Error("no lease came");
      return lease;
    }

    async function finish(worker: Base, output: unknown = "done"): Promise<void> {
      const lease = await claimOne(worker);
      await acknowledge(worker, lease, "w1");
      await complete(worker, lease, "w1", { output });
    }

    describe("calls", () => {
      test("are answered with what the operation says", async () => {
        const base = await open("ann");
        const { name, keys } = await base.link.call("agent", { params: { name: "ann" } });
        expect([name, keys.length]).toEqual(["ann", 1]);
      });

      test("take query parameters of every kind", async () => {
        const base = await open("ann");
        const page = await base.link.call("list", { query: { limit: 5, state: "queued" } });
        expect(page).toEqual({ handoffs: [], cursor: null });
      });

      test("that are refused reject with code, name, reason, remedy and the handoff", async () => {
        const base = await open("ann");
        const id = newId();
        const error = await base.link.call("get", { params: { id } }).catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(HandoffError);
        expect(error).toMatchObject({ code: 404, reason: "unknown_handoff", retryable: false, handoff: id });
        expect((error as HandoffError).remedy).not.toBe("");
        expect((error as HandoffError).docs).toMatch(/^docs\/errors\.md#\w/);
      });

      test("carry bytes both ways", async () => {
        const base = await open("ann");
        const bytes = new Uint8Array(100_000).fill(7);
        const sha256 = Buffer.from(base.crypto.sha256(bytes)).toString("hex");
        expect(await base.link.call("put_artifact", { params: { sha256 }, body: bytes })).toMatchObject({
          size: 100_000,
        });
        expect(await base.link.call("get_artifact", { params: { sha256 } })).toEqual(bytes);
      });

      test("with a value that strict JSON refuses are refused alone, and others of the same tick go through", async () => {
        const base = await open("ann");
        const bad = base.link.call("submit", { body: { to: "ann", input: "\ud800" } });
        const good = base.link.call("agent", { params: { name: "ann" } });
        await expect(bad).rejects.toMatchObject({ code: 400, reason: "lone_surrogate" });
        expect((await good).name).toBe("ann");
      });

      test("wait for what they are about", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        const ended = ann.link.call("get", { params: { id }, query: { until: "ended" } }, { wait_ms: 60_000 });
        await finish(worker);
        expect((await ended).state).toBe("completed");
      });

      test("that wait in vain answer as if nobody had waited", async () => {
        const ann = await open("ann");
        expect(await ann.link.call("outcomes", {}, { wait_ms: 1_000 })).toMatchObject({ handoffs: [], cursor: null });
      });
    });

    describe("signing", () => {
      test("makes acts signed, and all of one tick share one signature", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        const drafts = Array.from({ length: 5 }, (_, input) => ({ id: newId(), capability: "echo", input }));
        const receipts = await Promise.all(drafts.map((draft) => submit(ann, draft)));
        const views = await Promise.all(
          receipts.map(({ id }) => ann.link.call("get", { params: { id }, query: { proofs: true } })),
        );
        const proofs = views.map(({ receipts: all = [] }) => all[0]?.signed.proof ?? null);
        expect(views.map(({ evidence }) => evidence)).toEqual(Array(5).fill("signed"));
        expect(new Set(proofs.map((proof) => proof?.sig)).size).toBe(1);
        expect(proofs.map((proof) => proof?.index)).toEqual([0, 1, 2, 3, 4]);
      });

      test("a batch is accepted as a whole or not at all", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        const draft = (capability: string) => ({ id: newId(), capability, input: 1 });
        expect(await submitBatch(ann, [draft("echo"), draft("echo")])).toHaveLength(2);
        await expect(submitBatch(ann, [draft("echo"), draft("nobody_offers_this")])).rejects.toMatchObject({
          code: 406,
        });
        expect((await ann.link.call("list", {})).handoffs).toHaveLength(2);
      });

      test("a batch of a megabyte each goes through, however large it is together", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        const text = "x".repeat(900_000);
        const drafts = Array.from({ length: 10 }, () => ({ id: newId(), capability: "echo", text }));
        expect(await submitBatch(ann, drafts)).toHaveLength(10);
      });
    });

    describe("an AbortSignal", () => {
      test("that is aborted already sends nothing", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        const reason = new Error("changed my mind");
        const signal = AbortSignal.abort(reason);
        await expect(submit(ann, { id: newId(), capability: "echo", input: 1 }, { signal })).rejects.toBe(reason);
        await expect(ann.link.call("agents", {}, { signal })).rejects.toBe(reason);
        await expect(collect(ann.link.stream("handoff_events", { params: { id: newId() } }, { signal }))).rejects.toBe(
          reason,
        );
        expect((await ann.link.call("list", {})).handoffs).toEqual([]);
      });

      test("ends a wait with its reason and leaves no listener behind", async () => {
        const ann = await open("ann");
        const controller = new AbortController();
        const added = countListeners(controller.signal);
        const waiting = ann.link.call("outcomes", {}, { wait_ms: 60_000, signal: controller.signal });
        await ann.link.call("agents", {}, { signal: controller.signal });
        controller.abort(new Error("enough"));
        await expect(waiting).rejects.toThrow("enough");
        expect(added()).toBe(0);
      });

      test("ends a stream with its reason", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        const controller = new AbortController();
        const seen: string[] = [];
        const reading = (async () => {
          for await (const { event } of ann.link.stream(
            "handoff_events",
            { params: { id } },
            { signal: controller.signal },
          )) {
            seen.push(event);
            controller.abort(new Error("seen enough"));
          }
        })();
        await expect(reading).rejects.toThrow("seen enough");
        expect(seen).toEqual(["accepted"]);
      });
    });

    describe("streams", () => {
      test("tell everything in order and end by themselves", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        const events = collect(ann.link.stream("handoff_events", { params: { id } }));
        await finish(worker);
        expect((await events).map(({ event }) => event)).toEqual([
          "accepted",
          "delivered",
          "acknowledged",
          "completed",
        ]);
      });

      test("of a handoff that is not there are refused", async () => {
        const ann = await open("ann");
        await expect(collect(ann.link.stream("handoff_events", { params: { id: newId() } }))).rejects.toMatchObject({
          code: 404,
        });
      });

      test("that are left in the middle are let go of", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        for await (const { event } of ann.link.stream("handoff_events", { params: { id } })) {
          expect(event).toBe("accepted");
          break;
        }
        await finish(worker);
        expect((await ann.link.call("get", { params: { id } })).state).toBe("completed");
      });

      test("carry chunks, and begin anew with another attempt's text", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        const chunks = collect(ann.link.stream("read_chunks", { params: { id } }));
        await writeAndFail(worker, "first ");
        const lease = await claimOne(worker);
        await acknowledge(worker, lease, "w1");
        await write(worker, lease.id, lease.fence, 0, "second");
        await complete(worker, lease, "w1", { output: null });
        const texts = (await chunks).map(({ data }) => (data as { text: string }).text);
        expect(texts.join("")).toMatch(/^(first )?second$/);
      });
    });

    async function write(worker: Base, id: string, fence: number, offset: number, text: string): Promise<void> {
      await worker.link.call("write_chunk", { params: { id }, body: { fence, worker: "w1", offset, text } });
    }

    async function writeAndFail(worker: Base, text: string): Promise<void> {
      const lease = await claimOne(worker);
      await acknowledge(worker, lease, "w1");
      await write(worker, lease.id, lease.fence, 0, text);
      const body = { fence: lease.fence, worker: "w1", error: { reason: "tired", message: "again" }, retryable: true };
      await worker.link.call("fail", { params: { id: lease.id }, body });
    }

    describe("a relay that goes away and comes back", () => {
      test("answers the calls that were made meanwhile, each done once", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        await relay.pause();
        const made = Array.from({ length: 20 }, (_, input) =>
          submit(ann, { id: newId(), capability: "echo", input, queue_if_absent: true }),
        );
        await relay.resume();
        const receipts = await Promise.all(made);
        expect(new Set(receipts.map(({ id }) => id)).size).toBe(20);
        expect((await ann.link.call("list", { query: { limit: 100 } })).handoffs).toHaveLength(20);
      });

      test("answers a wait that was broken", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        const ended = ann.link.call("get", { params: { id }, query: { until: "ended" } }, { wait_ms: 120_000 });
        await relay.pause();
        await relay.resume();
        await finish(worker);
        expect((await ended).state).toBe("completed");
      });

      test("goes on with a stream without a gap and without a repeat", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1 });
        const seen: StreamEvent[] = [];
        const first = Promise.withResolvers<void>();
        const reading = (async () => {
          for await (const event of ann.link.stream("handoff_events", { params: { id } })) {
            seen.push(event);
            first.resolve();
          }
        })();
        await first.promise;
        await relay.pause();
        await relay.resume();
        await finish(worker);
        await reading;
        const seqs = seen
          .filter(({ id: cursor }) => cursor !== undefined)
          .map(({ data }) => (data as { seq: number }).seq);
        expect(seqs).toEqual(seqs.map((_, index) => index + 1));
        expect(seen.at(-1)?.event).toBe("completed");
      });

      test("and has forgotten everything: the agent registers again with what it offered, and goes on", async () => {
        const [ann, worker] = [await open("ann"), await openWorker("echo")];
        const claimed = claimOne(worker);
        await relay.pause();
        for (const name of await readdir(relay.directory)) await rm(join(relay.directory, name), { recursive: true });
        await relay.resume();
        const { id } = await submit(ann, { id: newId(), capability: "echo", input: 1, queue_if_absent: true });
        expect((await claimed).id).toBe(id);
      });
    });

    test("a relay that stays away is told of once patience is over, with what to do", async () => {
      const ann = await open("ann", { patience: "300ms" });
      await relay.pause();
      const error = await ann.link.call("agents", {}).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(RelayUnreachable);
      expect(error).toMatchObject({ reason: "relay_unreachable", retryable: true });
      expect((error as RelayUnreachable).remedy).toContain("handfast start");
      await relay.resume();
      expect((await ann.link.call("agents", {})).agents).toHaveLength(1);
    });

    describe("closing", () => {
      test("lets what was sent be answered, and ends what only waits", async () => {
        const [ann] = [await open("ann"), await openWorker("echo")];
        const waiting = ann.link.call("outcomes", {}, { wait_ms: 60_000 });
        const accepted = submit(ann, { id: newId(), capability: "echo", input: 1 });
        const refused = expect(waiting).rejects.toMatchObject({ reason: "closed" });
        // The submit is on its way once its signature is made.
        await ann.link.call("agents", {});
        await ann.link.close(5_000);
        expect((await accepted).state).toBe("queued");
        await refused;
      });

      test("refuses what comes after it", async () => {
        const ann = await open("ann");
        await ann.link.close(0);
        await expect(ann.link.call("agents", {})).rejects.toBeInstanceOf(UsageError);
      });
    });
  });
}

function newId(): string {
  return makeId(Date.now(), realSurroundings.randomBytes(10));
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** How many of the listeners that were added are still there. */
function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const listeners = new Set<unknown>();
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.add(given[1]);
    count = listeners.size;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.delete(given[1]);
    count = listeners.size;
    remove(...given);
  };
  return () => count;
}
