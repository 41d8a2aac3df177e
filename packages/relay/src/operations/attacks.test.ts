import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSqliteStore } from "@handfast/store-sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
const begin = async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
};
afterEach(() => relay.stop());

/** Each of these takes six characters in JSON. */
const controls = (count: number) => "\u0001".repeat(count);
const asCursor = (place: string) => Buffer.from(place).toString("base64url");
type Listed = { readonly id: string };

describe("payloads that swell in JSON", () => {
  it("fill a claim's reply only so far: the rest stays queued, costs nothing, and comes with the next claims", async () => {
    await begin();
    const handoff = { capability: "work", text: controls(999_000) };
    for (let at = 0; at < 3; at++) await sender.post("/v1/handoffs/batch", { handoffs: [handoff, handoff] });
    const claim = (request_id: string) => worker.post("/v1/claims", { worker: "w", slots: 6, request_id });
    const done = new Set<string>();
    for (let at = 0; done.size < 6; at++) {
      const got = await claim(`r${at}`);
      expect(got.text.length).toBeLessThan(limits.reply_bytes + 1_000);
      expect(got.body.leases).toHaveLength(2);
      const again = await claim(`r${at}`);
      expect(again.body.leases.map(({ id }: Listed) => id)).toEqual(got.body.leases.map(({ id }: Listed) => id));
      const { handoffs } = (await sender.get("/v1/handoffs?state=queued")).body;
      expect(handoffs).toHaveLength(4 - done.size);
      for (const queued of handoffs) expect(queued).toMatchObject({ deliveries: 0, attempts: 0, failures: [] });
      for (const { id, fence } of got.body.leases) {
        expect((await worker.act(id, "complete", { fence, output: 1 })).status).toBe(200);
        done.add(id);
      }
    }
  });

  it("take no lease from a worker that acknowledged it and repeats its claim", async () => {
    await begin();
    const handoff = { capability: "work", text: controls(999_000) };
    await sender.post("/v1/handoffs/batch", { handoffs: [handoff, handoff] });
    const claim = (proofs: boolean) => worker.post("/v1/claims", { worker: "w", slots: 2, request_id: "r", proofs });
    const { leases } = (await claim(false)).body;
    for (const { id, fence } of leases) await worker.act(id, "ack", { fence });
    // With proofs each input is there twice, so that only one lease has room.
    expect((await claim(true)).body.leases).toHaveLength(1);
    for (const { id } of leases) expect((await sender.get(`/v1/handoffs/${id}`)).body.state).toBe("working");
  });

  it("end a page of outcomes early, with a cursor to the rest; and the log brings all of them", async () => {
    await begin();
    const handoffs = Array.from({ length: 14 }, (_, input) => ({ capability: "work", input }));
    await sender.post("/v1/handoffs/batch", { handoffs });
    const { leases } = (await worker.post("/v1/claims", { worker: "w", slots: 14 })).body;
    for (const { id, fence } of leases) await worker.act(id, "complete", { fence, text: controls(240_000) });
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ""; cursor !== null; pages++) {
      const got = await sender.get(`/v1/outcomes${cursor === "" ? "" : `?cursor=${cursor}`}`);
      expect(got.text.length).toBeLessThan(limits.reply_bytes + 1_000);
      seen.push(...got.body.handoffs.map(({ id }: Listed) => id));
      cursor = got.body.cursor;
    }
    expect(pages).toBe(2);
    expect(new Set(seen)).toEqual(new Set(leases.map(({ id }: Listed) => id)));
    expect(seen).toHaveLength(14);
    const log = (await relay.get("/v1/log?payloads=inline", operator_token)).text.trim().split("\n");
    const outputs = log.map((line) => JSON.parse(line)).filter(({ event }) => event.type === "completed");
    expect(outputs).toHaveLength(14);
    for (const { payload } of outputs) expect(payload.text).toHaveLength(240_000);
  });
});

describe("a busy relay", () => {
  it("still ends a wait for questions when its time is over", async () => {
    await begin();
    let is_over = false;
    const waiting = relay.get("/v1/questions", operator_token, { prefer: "wait=1" }).finally(() => {
      is_over = true;
    });
    const guard = performance.now() + 20_000;
    while (!is_over && performance.now() < guard) await sender.submit({ capability: "work", input: 1 });
    expect(is_over).toBe(true);
    expect((await waiting).body.questions).toEqual([]);
  });

  it("tells many followers of a large correlation what happens in it, its progress included", async () => {
    await begin();
    const correlation_id = "large";
    const handoffs = Array.from({ length: 1_000 }, (_, input) => ({ capability: "work", input, correlation_id }));
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) {
      const { receipts } = (await sender.post("/v1/handoffs/batch", { handoffs })).body;
      ids.push(...receipts.map(({ id }: Listed) => id));
    }
    const { cursor } = (await sender.get(`/v1/handoffs/${ids.at(-1)}/events`)).body;
    const follow = async () => {
      const response = await fetch(`${relay.url}/v1/correlations/${correlation_id}/events`, {
        headers: {
          accept: "text/event-stream",
          "last-event-id": cursor,
          authorization: `Bearer ${sender.token}`,
        },
      });
      let text = "";
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        const ends = text.split("event: canceled\n").length - 1;
        if (ends === 200 && text.includes("event: progress")) return ends;
      }
      return 0;
    };
    const followers = Array.from({ length: 16 }, follow);
    const { id, fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    await worker.act(id, "heartbeat", { fence, progress: { fraction: 0.5 } });
    for (const each of ids.slice(-200)) await sender.act(each, "cancel");
    expect(await Promise.all(followers)).toEqual(Array.from({ length: 16 }, () => 200));
  }, 60_000);
});

describe("forged cursors", () => {
  it.each(["labc", "l1e3", "l-1", "l01", "l", "e5", "l99999999999999999", "ls1e3", "x"])(
    "%s is refused",
    async (place) => {
      await begin();
      const cursor = asCursor(place);
      for (const path of ["/v1/handoffs", "/v1/outcomes", "/v1/dead-letters", "/v1/questions", "/v1/correlations/c"]) {
        const got = await sender.get(`${path}?cursor=${cursor}`);
        expect([path, got.status, got.body.reason]).toEqual([path, 400, "bad_cursor"]);
      }
    },
  );

  it("one beyond the end of the log is refused", async () => {
    await begin();
    const id = await sender.submit({ capability: "work", input: 1, correlation_id: "c" });
    const cursor = asCursor("e1000000");
    for (const path of [`/v1/handoffs/${id}/events`, "/v1/correlations/c/events", "/v1/log"]) {
      const got = await sender.get(`${path}?cursor=${cursor}`);
      expect([path, got.status, got.body.reason]).toEqual([path, 400, "bad_cursor"]);
    }
  });
});

describe("a backup", () => {
  it.each(["../../etc/x", "/tmp/x.db", "a/b", "a\u0000b", "", ".", "..", ".hidden"])(
    "cannot be named %j",
    async (name) => {
      await begin();
      const got = await relay.post("/v1/backup", { name }, operator_token);
      expect([got.status, got.body.fields]).toEqual([400, ["/name"]]);
    },
  );

  it("that cannot be written says why", async () => {
    await begin();
    await writeFile(join(relay.directory, "backups"), "not a folder");
    const got = await relay.post("/v1/backup", {}, operator_token);
    expect([got.status, got.body.reason]).toEqual([400, "backup_failed"]);
  });
});

describe("dry runs without end", () => {
  it("leave a few plans of each caller, the oldest making room", async () => {
    await begin();
    const plans: string[] = [];
    for (let at = 0; at < 12; at++) {
      plans.push((await sender.post("/v1/dead-letters/redrive", { dry_run: true })).body.plan);
    }
    const others = (await worker.post("/v1/dead-letters/redrive", { dry_run: true })).body.plan;
    const run = async (plan: string | undefined, agent: TestAgent) =>
      (await agent.post("/v1/dead-letters/redrive", { plan })).status;
    expect(await run(plans[3], sender)).toBe(404);
    expect(await run(plans[4], sender)).toBe(200);
    expect(await run(plans[11], sender)).toBe(200);
    expect(await run(others, worker)).toBe(200);
    expect(await run(others, sender)).toBe(404);
    await relay.pause();
    const store = await openSqliteStore({ directory: relay.directory });
    expect(await store.records("default", "redrive_plan")).toHaveLength(limits.redrive_plans_per_caller + 1);
    await store.close();
    await relay.resume();
  });
});

describe("headers and labels", () => {
  const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  it("a traceparent goes through to the worker, unless the body names its own or it is malformed", async () => {
    await begin();
    const submit = (body: object, traceparent: string) =>
      sender.post("/v1/handoffs", { capability: "work", input: 1, ...body }, { traceparent });
    await submit({}, trace);
    expect((await worker.claim()).traceparent).toBe(trace);
    const own = trace.replace("-01", "-00");
    await submit({ traceparent: own }, trace);
    expect((await worker.claim()).traceparent).toBe(own);
    for (const bad of ["hello", `ff${trace.slice(2)}`, `00-${"0".repeat(32)}-00f067aa0ba902b7-01`]) {
      expect((await submit({}, bad)).status).toBe(202);
      expect((await worker.claim()).traceparent).toBeUndefined();
    }
  });

  it("a label's value may have colons, its key may not", async () => {
    await begin();
    const id = await sender.submit({ capability: "work", input: 1, labels: { url: "http://a:1" } });
    const { handoffs } = (await sender.get(`/v1/handoffs?label=${encodeURIComponent("url:http://a:1")}`)).body;
    expect(handoffs.map((each: Listed) => each.id)).toEqual([id]);
    const got = await sender.post("/v1/handoffs", { capability: "work", input: 1, labels: { "a:b": "c" } });
    expect([got.status, got.body.reason]).toEqual([400, "label_key"]);
  });
});

describe("the bytes of another", () => {
  it("are not betrayed by the answer to putting them up", async () => {
    await begin();
    const bytes = randomBytes(10);
    const path = `/v1/artifacts/${createHash("sha256").update(bytes).digest("hex")}`;
    const put = (agent: TestAgent) => relay.call("PUT", path, { token: agent.token, raw: bytes });
    expect((await put(sender)).status).toBe(201);
    expect((await put(worker)).status).toBe(201);
    expect((await put(worker)).status).toBe(200);
  });
});
