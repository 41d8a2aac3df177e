import { randomBytes } from "node:crypto";
import { documentDigest, makeId, payloadDigest, toBase64url, toUtf8 } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent as Key, testAgent } from "../identity/testing/test-agent.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
const senderKey = testAgent("signing-sender");
const workerKey = testAgent("signing-worker");
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await register(senderKey, []);
  worker = await register(workerKey, [{ name: "work" }]);
});
afterAll(() => relay.stop());

/** As a client does: challenge, registration, then a credential of its own making. */
async function register(key: Key, capabilities: readonly object[]): Promise<TestAgent> {
  const { challenge } = (await relay.post("/v1/agents/challenge", {})).body;
  const document = { ...header("registration"), agent_id: key.name, challenge, key: key.jwk, capabilities };
  const got = await relay.post("/v1/agents", { signed: await key.sign("registration", document) });
  expect([got.status, got.body.identity]).toEqual([201, key.key]);
  return new TestAgent(relay, key.name, await key.credential(relay.url, Date.now()));
}

const header = (typ: string) => ({ v: 1, typ, relay: relay.url, namespace: "default" });

function seal(text: string) {
  const salt = randomBytes(16);
  const sha256 = payloadDigest(nodeCrypto, salt, toUtf8(text));
  return { media_type: "application/json", size: toUtf8(text).length, salt: toBase64url(salt), sha256 };
}

const newId = () => makeId(Date.now(), randomBytes(10));
const handoff = (payload: string, more: object = {}) => ({
  ...header("handoff"),
  from: senderKey.name,
  id: newId(),
  capability: "work",
  input: seal(payload),
  ...more,
});

async function submit(payload: string, more: object = {}) {
  const signed = await senderKey.sign("handoff", handoff(payload, more));
  return { signed: { ...signed, payload }, got: await sender.post("/v1/handoffs", { signed: { ...signed, payload } }) };
}

describe("signed acts", () => {
  it("carry the author's exact bytes from end to end", async () => {
    const payload = '{ "b":1,  "a":[1.0] }';
    const { signed, got } = await submit(payload, { evidence: "signed" });
    expect(got.status).toBe(202);
    const digest = documentDigest(nodeCrypto, "handoff", toUtf8(signed.document));
    expect(got.body).toMatchObject({ digest, handoff: { evidence: "signed", demands: "signed" } });
    const lease = await worker.claim({ proofs: true });
    expect(lease).toMatchObject({ digest, input: { b: 1, a: [1] }, signed });
    const bound = {
      id: lease.id,
      handoff: digest,
      fence: lease.fence,
      worker: "signing-worker-1",
      manifest: lease.manifest,
    };
    const plain = await worker.act(lease.id, "ack", { fence: lease.fence });
    expect([plain.status, plain.body.reason]).toEqual([401, "signature_demanded"]);
    const ack = await workerKey.sign("ack", { ...header("ack"), from: workerKey.name, ...bound });
    expect((await worker.act(lease.id, "ack", { signed: ack })).status).toBe(200);
    const output = '"done"';
    const said = {
      ...header("outcome"),
      from: workerKey.name,
      ...bound,
      status: "completed",
      code: 200,
      output: seal(output),
    };
    const outcome = { ...(await workerKey.sign("outcome", said)), payload: output };
    expect((await worker.act(lease.id, "complete", { signed: outcome })).status).toBe(200);
    const read = (await sender.get(`/v1/handoffs/${lease.id}?proofs=true`)).body;
    expect(read.outcome).toMatchObject({ evidence: "signed", output: "done" });
    const receipts = read.receipts.map(({ kind, signed: kept }: { kind: string; signed: object }) => [kind, kept]);
    expect(receipts).toEqual([
      ["handoff", signed],
      ["ack", ack],
      ["outcome", outcome],
    ]);
  });

  it("show JSON as its author wrote it, as text what only calls itself JSON, and break no line of the log", async () => {
    const written = '{\n  "a": 1.50,\r\n  "b": []\n}';
    const { got } = await submit(written, { correlation_id: "as-written" });
    const read = await sender.get(`/v1/handoffs/${got.body.id}?input=true`);
    expect(read.text).toContain(`"input":${written}`);
    const log = await sender.get("/v1/log?correlation_id=as-written&payloads=inline");
    expect(JSON.parse(log.text.split("\n")[0] ?? "").payload).toEqual({ input: { a: 1.5, b: [] } });
    const { got: broken } = await submit('{"a":', {});
    expect((await sender.get(`/v1/handoffs/${broken.body.id}?input=true`)).body.text).toBe('{"a":');
  });

  it("are submitted many under one signature", async () => {
    const payloads = ["1", "2", "3"];
    const all = await senderKey.signAll(
      "handoff",
      payloads.map((payload) => handoff(payload)),
    );
    const handoffs = all.map((signed, index) => ({ signed: { ...signed, payload: payloads[index] } }));
    const got = await sender.post("/v1/handoffs/batch", { handoffs });
    expect([got.status, got.body.receipts.length]).toEqual([202, 3]);
    for (const { id } of got.body.receipts) {
      const document = {
        ...header("cancel"),
        from: senderKey.name,
        id,
        handoff: got.body.receipts.find((r: { id: string }) => r.id === id).digest,
      };
      const canceled = await sender.act(id, "cancel", { signed: await senderKey.sign("cancel", document) });
      expect(canceled.body).toMatchObject({ state: "canceled", outcome: { evidence: "signed" } });
    }
  });

  it("are refused when the payload is another one, missing, or not asked for", async () => {
    const signed = await senderKey.sign("handoff", handoff("1"));
    const reason = async (more: object) =>
      (await sender.post("/v1/handoffs", { signed: { ...signed, ...more } })).body.reason;
    expect(await reason({ payload: "2" })).toBe("payload_differs");
    expect(await reason({})).toBe("payload_missing");
    expect(await reason({ payload: "***", payload_encoding: "base64" })).toBe("payload_encoding");
    expect(await reason({ payload: Buffer.from("1").toString("base64"), payload_encoding: "base64" })).toBeUndefined();
  });

  it("are refused when they bind another handoff or another author signed them", async () => {
    const { got } = await submit("1");
    await worker.post("/v1/claims", { worker: "w", slots: 50 });
    const { fence, lease } = (await sender.get(`/v1/handoffs/${got.body.id}`)).body;
    expect(lease.agent).toBe(workerKey.name);
    const { manifest } = (await relay.get("/v1/agents/signing-worker", sender.token)).body;
    const bound = { id: got.body.id, handoff: got.body.digest, fence, worker: "w", manifest: manifest.digest };
    const ack = (key: Key, changes: object) =>
      key.sign("ack", { ...header("ack"), from: workerKey.name, ...bound, ...changes });
    const send = async (signed: object) => (await worker.act(got.body.id, "ack", { signed })).body;
    expect(await send(await ack(workerKey, { handoff: "0".repeat(64) }))).toMatchObject({ reason: "binds_another" });
    expect((await send(await ack(workerKey, { manifest: null }))).fields).toEqual(["/signed/document/manifest"]);
    expect(await send(await ack(senderKey, {}))).toMatchObject({ code: 401 });
    expect((await send(await ack(workerKey, { relay: "https://elsewhere.example" }))).code).toBeGreaterThanOrEqual(400);
    expect(await send(await ack(workerKey, {}))).toMatchObject({ state: "working" });
  });

  it("answer a question", async () => {
    const { got } = await submit("1");
    await worker.post("/v1/claims", { worker: "w", slots: 50 });
    const { id, digest } = got.body;
    const question = `${id}:q`;
    await worker.act(id, "ask", { fence: 1, question: "?", question_id: "q" });
    const document = { ...header("answer"), from: senderKey.name, id, question, handoff: digest, answer: seal('"!"') };
    const signed = { ...(await senderKey.sign("answer", document)), payload: '"!"' };
    const answered = await sender.post(`/v1/questions/${question}/answer`, { signed });
    expect(answered.body).toMatchObject({ resolution: "answered", answer: "!" });
    expect((await sender.post(`/v1/questions/${question}/answer`, { signed })).status).toBe(200);
    expect((await sender.post(`/v1/questions/${question}/answer`, { answer: "?" })).status).toBe(409);
  });
});

describe("a signed redrive", () => {
  async function deadLetter(): Promise<string> {
    const { got } = await submit("1");
    const leases = (await worker.post("/v1/claims", { worker: "w", slots: 50 })).body.leases;
    const { fence } = leases.find(({ id }: { id: string }) => id === got.body.id);
    await worker.act(got.body.id, "fail", { fence, error: { reason: "broken", message: "cannot" } });
    return got.body.id;
  }
  const redrive = async (letter: string, more: object) => {
    const signed = { ...(await senderKey.sign("handoff", handoff("2", more))), payload: "2" };
    return sender.post(`/v1/dead-letters/${letter}/redrive`, { signed });
  };

  it("carries the document of whoever redrives", async () => {
    const letter = await deadLetter();
    expect((await redrive(letter, { redrive_of: newId() })).body.reason).toBe("binds_another");
    const got = await redrive(letter, { redrive_of: letter });
    expect(got.status).toBe(202);
    expect(got.body.handoff).toMatchObject({ evidence: "signed", from: senderKey.name, redrive_of: letter });
  });

  it("gives no way to an artifact of another", async () => {
    const other = await relay.agent("artifact-owner");
    const bytes = randomBytes(20);
    const sha256 = Buffer.from(nodeCrypto.sha256(bytes)).toString("hex");
    await relay.call("PUT", `/v1/artifacts/${sha256}`, { token: other.token, raw: bytes });
    const letter = await deadLetter();
    const artifacts = [{ sha256, size: 20, media_type: "image/png" }];
    const got = await redrive(letter, { redrive_of: letter, artifacts });
    expect([got.status, got.body.reason]).toEqual([404, "unknown_artifact"]);
    expect((await sender.get(`/v1/artifacts/${sha256}`)).status).toBe(404);
  });
});

describe("keys", () => {
  it("are rotated by both keys and revoked at once", async () => {
    const old = testAgent("rotating");
    const agent = await register(old, []);
    const fresh = testAgent("rotating");
    const { challenge } = (await relay.post("/v1/agents/challenge", {})).body;
    const document = { ...header("rotation"), agent_id: "rotating", challenge, old: old.key, key: fresh.jwk };
    const { proof: new_proof } = await fresh.sign("rotation", document);
    const signed = { ...(await old.sign("rotation", document)), new_proof };
    expect((await relay.post("/v1/agents/rotating/keys", { signed })).status).toBe(200);
    const renewed = new TestAgent(relay, "rotating", await fresh.credential(relay.url, Date.now()));
    expect((await renewed.get("/v1/outcomes")).status).toBe(200);
    const gone = await relay.call("DELETE", `/v1/agents/rotating/keys/${old.key}`, { token: renewed.token });
    expect(gone.status).toBe(200);
    expect((await agent.get("/v1/outcomes")).status).toBe(401);
  });
});
