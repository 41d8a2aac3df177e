import { parsePublicKey, toUtf8, verifyProof } from "@handfast/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { testAgent } from "../../identity/testing/test-agent.ts";
import { nodeCrypto } from "../../proof/node-crypto.ts";
import { TestRelay } from "../../testing/test-relay.ts";
import { bodyOf, frameSignature, proofOf, registered, unsigned, unsignedHandoff } from "./testing/signing.ts";
import { type Reply, type Signed, TestPeer } from "./testing/test-peer.ts";

let relay: TestRelay;
let peer: TestPeer;
let worker: TestPeer;
const sender = testAgent("frame-sender");
const holder = testAgent("frame-worker");
beforeAll(async () => {
  relay = await TestRelay.start();
  await registered(relay, sender);
  await registered(relay, holder, [{ name: "work" }]);
  peer = await TestPeer.greet(relay, await sender.credential(relay.url, Date.now()));
  worker = await TestPeer.greet(relay, await holder.credential(relay.url, Date.now()));
});
afterAll(async () => {
  await peer.break();
  await worker.break();
  await relay.stop();
});
afterEach(() => vi.restoreAllMocks());

const handoffs = (count: number) =>
  Array.from({ length: count }, (_, index) => unsignedHandoff(relay, sender.name, String(index)));
const submits = (documents: readonly Parameters<typeof bodyOf>[0][]) =>
  documents.map((document) => ({ op: "submit", body: bodyOf(document) }));
const statuses = (replies: readonly { status: number }[]) => replies.map(({ status }) => status);

async function verifiesOffline(typ: string, document: string, proof: unknown): Promise<boolean> {
  const parsed = parsePublicKey(nodeCrypto, sender.jwk);
  return parsed.ok && verifyProof(nodeCrypto, parsed.key, typ, toUtf8(document), proof);
}

/** What the first receipt of a handoff was signed with. */
function signedIn({ body }: Reply): Signed {
  const [receipt] = body.receipts;
  if (receipt === undefined) throw new Error("it has no receipt");
  return receipt.signed;
}

describe("one signature for a frame", () => {
  it("of many documents is verified once, and gives each the proof it would have carried", async () => {
    const documents = handoffs(50);
    const signature = await frameSignature(sender, documents);
    const verify = vi.spyOn(nodeCrypto, "verify");
    const replies = await peer.calls(submits(documents), { signature });
    expect(statuses(replies)).toEqual(Array(50).fill(202));
    expect(verify).toHaveBeenCalledTimes(1);
    const read = await peer.call("get", { params: { id: replies[17]?.body.id }, query: { proofs: true } });
    const { proof, document } = signedIn(read);
    expect(proof).toEqual(proofOf(documents, 17, signature));
    expect(await verifiesOffline("handoff", document, proof)).toBe(true);
  });

  it("covers a batch too, and other calls of the same frame", async () => {
    const documents = handoffs(7);
    const [first, ...rest] = documents;
    if (first === undefined) throw new Error("seven documents");
    const calls = [
      ...submits([first]),
      { op: "healthz" },
      { op: "submit_batch", body: { handoffs: rest.map(bodyOf) } },
    ];
    const verify = vi.spyOn(nodeCrypto, "verify");
    const replies = await peer.calls(calls, { signature: await frameSignature(sender, documents) });
    expect(statuses(replies)).toEqual([202, 200, 202]);
    expect(verify).toHaveBeenCalledTimes(1);
    const receipts = replies[2]?.body.receipts ?? [];
    expect(receipts).toHaveLength(rest.length);
    for (const { id } of receipts) {
      const { document, proof } = signedIn(await peer.call("get", { params: { id }, query: { proofs: true } }));
      expect(proof.size).toBe(7);
      expect(await verifiesOffline("handoff", document, proof)).toBe(true);
    }
  });

  it("covers documents of different kinds, while those that bring a proof of their own keep it", async () => {
    const [given] = handoffs(1);
    if (given === undefined) throw new Error("one document");
    await peer.calls(submits([given]), { signature: await frameSignature(sender, [given]) });
    const { body: claimed } = await worker.call("claim", { body: { worker: "w", slots: 256, proofs: true } });
    const lease = claimed.leases.find(({ from }) => from === sender.name);
    if (lease === undefined) throw new Error("nothing was leased");
    const { id, fence, digest, manifest } = lease;
    const said = { id, handoff: digest, fence, worker: "w", manifest };
    const ack = unsigned(relay, holder.name, "ack", said);
    const own = await holder.sign("outcome", {
      ...JSON.parse(ack.document),
      typ: "outcome",
      status: "failed",
      code: 500,
      error: { reason: "broken", message: "It broke." },
      retryable: false,
    });
    const signature = await frameSignature(holder, [ack]);
    const acked = await worker.calls([{ op: "ack", params: { id }, body: bodyOf(ack) }], { signature });
    expect(statuses(acked)).toEqual([200]);
    const failed = await worker.call("fail", { params: { id }, body: { signed: own } });
    expect(failed.status, JSON.stringify(failed)).toBe(200);
  });

  it("that is false fails the calls it was to cover with 401; the others run", async () => {
    const documents = handoffs(3);
    const { key } = await frameSignature(sender, documents);
    const sig = Buffer.alloc(64, 7).toString("base64url");
    const replies = await peer.calls([...submits(documents), { op: "outcomes" }], { signature: { key, sig } });
    expect(statuses(replies)).toEqual([401, 401, 401, 200]);
    expect(replies[0]?.problem?.reason).toBe("bad_signature");
  });

  it("over other documents, or in another order, is false", async () => {
    const documents = handoffs(2);
    const other = await frameSignature(sender, handoffs(2));
    expect(statuses(await peer.calls(submits(documents), { signature: other }))).toEqual([401, 401]);
    const reversed = await frameSignature(sender, documents.toReversed());
    expect(statuses(await peer.calls(submits(documents), { signature: reversed }))).toEqual([401, 401]);
  });

  it("of another agent's key is refused", async () => {
    const documents = handoffs(1);
    const replies = await peer.calls(submits(documents), { signature: await frameSignature(holder, documents) });
    expect(replies[0]).toMatchObject({ status: 401, problem: { reason: "unknown_key" } });
  });

  it("that is missing is named, call by call", async () => {
    const replies = await peer.calls([...submits(handoffs(1)), { op: "outcomes" }]);
    expect(statuses(replies)).toEqual([400, 200]);
    expect(replies[0]?.problem?.fields).toEqual(["/signed/proof"]);
  });

  it("is no use to a document whose payload was changed on the way", async () => {
    const [document] = handoffs(1);
    if (document === undefined) throw new Error("one document");
    const signature = await frameSignature(sender, [document]);
    const replies = await peer.calls(submits([{ ...document, payload: "666" }]), { signature });
    expect(replies[0]?.status).toBe(400);
  });
});
