import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
let stranger: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
  stranger = await relay.agent("stranger");
});
afterAll(() => relay.stop());

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const put = (agent: TestAgent, digest: string, bytes: Uint8Array) =>
  relay.call("PUT", `/v1/artifacts/${digest}`, {
    token: agent.token,
    raw: bytes,
    headers: { "content-type": "image/png" },
  });
const read = async (agent: TestAgent, digest: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${relay.url}/v1/artifacts/${digest}`, {
    headers: { authorization: `Bearer ${agent.token}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe("artifacts", () => {
  it("go up and down whole, larger than any JSON body", async () => {
    const bytes = randomBytes(5_000_000);
    const digest = sha256(bytes);
    const up = await put(sender, digest, bytes);
    expect([up.status, up.body]).toEqual([201, { sha256: digest, size: bytes.length, media_type: "image/png" }]);
    expect((await put(sender, digest, bytes)).status).toBe(200);
    const down = await read(sender, digest);
    expect(down.bytes.equals(bytes)).toBe(true);
    expect(down.headers.get("content-disposition")).toBe("attachment");
    expect(down.headers.get("handfast-media-type")).toBe("image/png");
    const part = await read(sender, digest, { range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 10-19/${bytes.length}`]);
    expect(part.bytes.equals(bytes.subarray(10, 20))).toBe(true);
  });

  it("are refused under another digest, and nothing of them stays", async () => {
    const got = await put(sender, "0".repeat(64), Buffer.from("not nothing"));
    expect([got.status, got.body.reason]).toEqual([422, "digest_differs"]);
    expect(await readdir(join(relay.directory, "artifacts", "incoming"))).toEqual([]);
  });

  it("are visible to whoever put them up and to the parties of a handoff that refers to them", async () => {
    const bytes = randomBytes(100);
    const digest = sha256(bytes);
    await put(sender, digest, bytes);
    expect((await read(worker, digest)).status).toBe(404);
    const artifacts = [{ sha256: digest, size: 100, media_type: "image/png", name: "a.png" }];
    const id = await sender.submit({ capability: "work", input: { picture: digest }, artifacts });
    const lease = await worker.claim();
    expect(lease.artifacts).toEqual(artifacts);
    expect((await read(worker, digest)).bytes.equals(bytes)).toBe(true);
    expect((await read(stranger, digest)).status).toBe(404);
    const result = randomBytes(50);
    await put(worker, sha256(result), result);
    const made = [{ sha256: sha256(result), size: 50, media_type: "image/png" }];
    await worker.act(id, "complete", { fence: lease.fence, output: "see artifact", artifacts: made });
    expect((await sender.get(`/v1/handoffs/${id}`)).body.outcome.artifacts).toEqual([sha256(result)]);
    expect((await read(sender, sha256(result))).bytes.equals(result)).toBe(true);
  });

  it("cannot be had by naming their digest", async () => {
    const bytes = randomBytes(10);
    const digest = sha256(bytes);
    await put(sender, digest, bytes);
    const artifacts = [{ sha256: digest, size: 10, media_type: "image/png" }];
    const stolen = await stranger.post("/v1/handoffs", { capability: "work", input: 1, artifacts });
    expect([stolen.status, stolen.body.reason]).toEqual([404, "unknown_artifact"]);
    const wrong = [{ ...artifacts[0], size: 11 }];
    const lied = await sender.post("/v1/handoffs", { capability: "work", input: 1, artifacts: wrong });
    expect([lied.status, lied.body.fields]).toEqual([400, ["/artifacts/0/size"]]);
  });

  it("survive a restart", async () => {
    const bytes = randomBytes(10);
    await put(sender, sha256(bytes), bytes);
    await relay.pause();
    await relay.resume();
    expect((await read(sender, sha256(bytes))).bytes.equals(bytes)).toBe(true);
    expect((await relay.get(`/v1/artifacts/${sha256(bytes)}`, operator_token)).status).toBe(200);
  });
});
