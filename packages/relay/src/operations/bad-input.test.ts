import { makeId } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;

const offered = {
  name: "strict",
  input_schema: {
    type: "object",
    additionalProperties: false,
    required: ["query"],
    properties: { query: { type: "string" }, pages: { type: "array", items: { type: "integer" } } },
  },
};

beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  await relay.agent("worker", offered, "any");
});
afterAll(() => relay.stop());

const submitRaw = (raw: string | Uint8Array, headers = {}) =>
  relay.call("POST", "/v1/handoffs", { token: sender.token, raw, headers });
const submit = (body: unknown) => sender.post("/v1/handoffs", body);
const accepted = async () => (await sender.get("/v1/handoffs?limit=500")).body.handoffs.length;

describe("JSON that two readers could understand differently", () => {
  it.each([
    ["cut short", '{"capability":"any","input":', "syntax"],
    ["no JSON at all", "hello", "syntax"],
    ["a duplicate key", '{"capability":"any","capability":"any","input":1}', "duplicate_key"],
    ["a duplicate key deep inside", '{"capability":"any","input":{"a":{"b":1,"b":2}}}', "duplicate_key"],
    ["a number that loses digits", '{"capability":"any","input":9007199254740993}', "number_out_of_range"],
    ["a number out of range", '{"capability":"any","input":1e400}', "number_out_of_range"],
    ["a lone surrogate", '{"capability":"any","input":"\\ud800"}', "lone_surrogate"],
    ["a key that reaches for the prototype", '{"capability":"any","input":{"__proto__":1}}', "forbidden_key"],
    ["too many levels", `{"capability":"any","input":${"[".repeat(70)}${"]".repeat(70)}}`, "too_deep"],
    ["a million levels", `{"capability":"any","input":${"[".repeat(500_000)}`, "too_deep"],
  ])("refuses %s", async (_what, raw, reason) => {
    const before = await accepted();
    const got = await submitRaw(raw);
    expect([got.status, got.body.reason]).toEqual([400, reason]);
    expect(await accepted()).toBe(before);
  });

  it("refuses bytes that are not UTF-8", async () => {
    const got = await submitRaw(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect([got.status, got.body.reason]).toEqual([400, "not_utf8"]);
  });

  it("names the path of the fault", async () => {
    const got = await submitRaw('{"capability":"any","input":{"list":[1,{"x":1,"x":2}]}}');
    expect(got.body.fields).toEqual(["/input/list/1/x"]);
  });

  it("does not send a caller's own long names back to it", async () => {
    const name = "\\u0001".repeat(40_000);
    for (const raw of [`{"${name}":1e999}`, `{"capability":"any","input":1,"ext":{"${name}":{"a":1,"a":2}}}`]) {
      const { status, text, body } = await submitRaw(raw);
      expect([status, text.length < 20_000]).toEqual([400, true]);
      expect(body.fields[0]).toMatch(/…$/);
    }
  });

  it("refuses another content type, as forms across sites would bring", async () => {
    const got = await submitRaw('{"capability":"any","input":1}', { "content-type": "text/plain" });
    expect([got.status, got.body.reason]).toEqual([400, "content_type"]);
  });
});

describe("too much", () => {
  it("refuses a body over the limit by its declared size, before reading it", async () => {
    const got = await submitRaw(`{"capability":"any","input":"${"x".repeat(2_000_000)}"}`);
    expect([got.status, got.body.reason]).toEqual([413, "too_large"]);
  });

  it("refuses a body over the limit that does not declare its size", async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(100_000).fill(0x20)),
    });
    const refused = fetch(`${relay.url}/v1/handoffs`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${sender.token}` },
      body: stream,
      duplex: "half",
    }).then(
      (response) => response.status,
      () => 413,
    );
    expect(await refused).toBe(413);
  });

  it("refuses a payload over the inline limit and points to artifacts", async () => {
    const got = await submit({ capability: "any", text: "x".repeat(limits.inline_payload_bytes + 1) });
    expect([got.status, got.body.reason]).toEqual([413, "payload_too_large"]);
    expect(got.body.detail).toContain("artifact");
  });

  it("refuses a batch of 10,000", async () => {
    const before = await accepted();
    const handoffs = Array.from({ length: 10_000 }, () => ({ capability: "any", input: 1 }));
    const got = await sender.post("/v1/handoffs/batch", { handoffs });
    expect([got.status, got.body.reason, got.body.limit]).toEqual([413, "too_many", limits.batch_handoffs]);
    expect(await accepted()).toBe(before);
  });

  it("takes a batch of as many as are allowed", async () => {
    const many = await relay.agent("many");
    const handoffs = Array.from({ length: limits.batch_handoffs }, (_, input) => ({ capability: "any", input }));
    const got = await many.post("/v1/handoffs/batch", { handoffs });
    expect([got.status, got.body.receipts.length]).toEqual([202, limits.batch_handoffs]);
  });

  it("refuses a document that everything but the input makes too large", async () => {
    const ext = { "https://example.org/x": "y".repeat(70_000) };
    const got = await submit({ capability: "any", input: 1, ext });
    expect([got.status, got.body.reason]).toEqual([413, "document_too_large"]);
  });
});

describe("fields", () => {
  it("refuses unknown fields and names every one of them", async () => {
    const got = await submit({ capability: "any", input: 1, colour: "red", prio: 3 });
    expect([got.status, got.body.reason, got.body.fields]).toEqual([400, "unknown_field", ["/colour", "/prio"]]);
    const inner = await submit({ capability: "any", input: 1, limits: { deadline: 5 } });
    expect(inner.body.fields).toEqual(["/limits/deadline"]);
  });

  it("keeps what is under ext and hands it on", async () => {
    const worker = await relay.agent("ext-worker", "extended");
    const ext = { "https://example.org/x": { y: 1 } };
    await sender.submit({ capability: "extended", input: 1, ext });
    expect((await worker.claim()).ext).toEqual(ext);
  });

  it("refuses unknown parameters in the address", async () => {
    const got = await sender.get("/v1/handoffs?colour=red");
    expect([got.status, got.body.fields]).toEqual([400, ["/colour"]]);
  });

  it.each(["deadline_ms", "queue_ms", "ack_ms", "lease_ms", "attempt_ms", "max_attempts"])(
    "refuses a negative, zero, huge, broken or worded %s, naming it",
    async (name) => {
      for (const value of [-1, 0, 9e15, 1.5, "10s", null]) {
        const got = await submit({ capability: "any", input: 1, limits: { [name]: value } });
        expect([got.status, got.body.fields]).toEqual([400, [`/limits/${name}`]]);
      }
    },
  );

  it.each([
    ["a UUIDv4", "0b0c1f3e-7d1b-4b7e-9a1c-0123456789ab"],
    ["capitals", makeId(Date.now(), new Uint8Array(10)).toUpperCase()],
    ["anything", "order-7"],
  ])("refuses an id that is %s", async (_what, id) => {
    const got = await submit({ capability: "any", input: 1, id });
    expect([got.status, got.body.fields]).toEqual([400, ["/id"]]);
  });

  it.each([
    ["far ahead", 2 * 60 * 60_000],
    ["far behind", -40 * 24 * 60 * 60_000],
  ])("refuses an id whose time is %s", async (_what, offset_ms) => {
    const id = makeId(Date.now() + offset_ms, new Uint8Array(10).fill(7));
    const got = await submit({ capability: "any", input: 1, id });
    expect([got.status, got.body.reason]).toEqual([400, "id_time"]);
  });

  it("wants exactly one target and exactly one input", async () => {
    expect((await submit({ input: 1 })).body.reason).toBe("no_target");
    expect((await submit({ capability: "any" })).body.reason).toBe("one_input");
    expect((await submit({ capability: "any", input: 1, text: "x" })).body.reason).toBe("one_input");
  });

  it("refuses a schema that could be used against the relay", async () => {
    const expects = { output_schema: { type: "string", $ref: "https://example.org/schema" } };
    const got = await submit({ capability: "any", input: 1, expects });
    expect([got.status, got.body.reason]).toEqual([400, "schema_refused"]);
  });

  it("refuses a broken wait and a foreign cursor", async () => {
    expect((await sender.get("/v1/outcomes", { prefer: "wait=soon" })).body.reason).toBe("prefer_wait");
    expect((await sender.get("/v1/handoffs?cursor=ZTE")).body.reason).toBe("bad_cursor");
  });
});

describe("targets", () => {
  it("refuses a capability that nobody offers at once, with nothing stored", async () => {
    const before = await accepted();
    const got = await submit({ capability: "levitate", input: 1 });
    expect([got.status, got.body.code, got.body.reason]).toEqual([406, 406, "nobody_offers"]);
    expect((await submit({ to: "nobody", input: 1 })).status).toBe(404);
    expect(await accepted()).toBe(before);
  });

  it("queues it until the queue clock runs out, if asked", async () => {
    const id = await sender.submit({
      capability: "levitate",
      input: 1,
      queue_if_absent: true,
      limits: { queue_ms: 100 },
    });
    const ended = await sender.get(`/v1/handoffs/${id}`, { prefer: "wait=10" });
    expect(ended.body).toMatchObject({ code: 503, name: "no_capable_agent" });
  });

  it("refuses input that does not fit with path and reason, with nothing stored", async () => {
    const before = await accepted();
    const got = await submit({ capability: "strict", input: { query: "x", pages: [1, "two"] } });
    expect([got.status, got.body.code]).toEqual([422, 422]);
    expect(got.body.detail).toContain("/pages/1");
    expect(got.body.detail).toContain("integer");
    expect(await accepted()).toBe(before);
  });
});

describe("what is not the caller's", () => {
  it("looks the same as what is not there", async () => {
    const stranger = await relay.agent("stranger", "strange");
    const id = await sender.submit({ capability: "any", input: "secret" });
    const absent = makeId(Date.now(), new Uint8Array(10).fill(3));
    const asks = ["", "/events", "/chunks"];
    for (const ask of asks) {
      const foreign = await stranger.get(`/v1/handoffs/${id}${ask}`);
      const missing = await stranger.get(`/v1/handoffs/${absent}${ask}`);
      expect(foreign.status).toBe(404);
      expect(foreign.text.replaceAll(id, "ID")).toBe(missing.text.replaceAll(absent, "ID"));
    }
    for (const [act, body] of [
      ["cancel", {}],
      ["take", {}],
      ["ack", { fence: 1 }],
      ["complete", { fence: 1, output: 1 }],
    ] as const) {
      const foreign = await stranger.act(id, act, body);
      const missing = await stranger.act(absent, act, body);
      expect(foreign.status).toBe(404);
      expect(foreign.text.replaceAll(id, "ID")).toBe(missing.text.replaceAll(absent, "ID"));
    }
    expect((await stranger.get(`/v1/correlations/${id}`)).status).toBe(404);
    expect((await stranger.get("/v1/handoffs")).body.handoffs).toEqual([]);
    expect((await stranger.get("/v1/log")).text).toBe("");
    expect((await stranger.get("/v1/log?agent=sender")).status).toBe(403);
  });

  it("is refused to a party that may see it but not do it", async () => {
    const worker = await relay.agent("party-worker", "party");
    const id = await sender.submit({ capability: "party", input: 1 });
    const { fence } = await worker.claim();
    expect((await worker.act(id, "cancel")).status).toBe(403);
    expect((await worker.act(id, "take")).status).toBe(403);
    expect((await sender.act(id, "ack", { fence })).status).toBe(403);
    expect((await worker.act(id, "ack", { fence, worker: "another" })).body.reason).toBe("foreign_worker");
  });

  it("needs a credential, and says which operation needs which", async () => {
    const none = await relay.get("/v1/handoffs");
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await relay.get("/v1/handoffs", "hft_wrong")).status).toBe(401);
    expect((await sender.post("/v1/backup", {})).status).toBe(403);
  });

  it("gives an operator's token no agent's voice", async () => {
    const got = await relay.post("/v1/handoffs", { capability: "any", input: 1 }, "operator-token-for-tests-only");
    expect([got.status, got.body.reason]).toEqual([403, "not_an_agent"]);
  });
});

describe("addresses", () => {
  it("tells of an operation that is not there", async () => {
    const got = await relay.get("/v2/handoffs");
    expect([got.status, got.body.reason]).toEqual([404, "unknown_operation"]);
    expect((await relay.call("PUT", "/v1/handoffs")).status).toBe(405);
  });

  it("refuses an id in the path that is none", async () => {
    expect((await sender.get("/v1/handoffs/7")).body.fields).toEqual(["/id"]);
  });
});
