import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Crypto } from "./crypto.ts";
import { toUtf8 } from "./encoding.ts";
import { type Message, openProof, signBatch, verifyProof, verifyProofs } from "./signing.ts";
import { testCrypto, testKey } from "./testing/test-crypto.ts";

const { publicKey, signer } = testKey(new Uint8Array(32).fill(7));
const stranger = testKey(new Uint8Array(32).fill(8));

function messagesOf(size: number): Message[] {
  return Array.from({ length: size }, (_, n) => ({ typ: "ack", bytes: toUtf8(`message ${n}`) }));
}

function countingCrypto(): { crypto: Crypto; count: () => number } {
  let verified = 0;
  const verify: Crypto["verify"] = (...args) => {
    verified++;
    return testCrypto.verify(...args);
  };
  return { crypto: { ...testCrypto, verify }, count: () => verified };
}

describe("batch signatures", () => {
  it("verify for every message of every size up to 40", async () => {
    for (let size = 1; size <= 40; size++) {
      const messages = messagesOf(size);
      const proofs = await signBatch(testCrypto, signer, messages);
      const signed = messages.map((message, n) => ({ ...message, proof: proofs[n] }));
      expect(await verifyProofs(testCrypto, publicKey, signed)).toEqual(signed.map(() => true));
    }
  });

  it("cost one Ed25519 verification per batch, however many messages", async () => {
    const messages = messagesOf(4096);
    const proofs = await signBatch(testCrypto, signer, messages);
    const { crypto, count } = countingCrypto();
    const signed = messages.map((message, n) => ({ ...message, proof: proofs[n] }));
    expect((await verifyProofs(crypto, publicKey, signed)).every(Boolean)).toBe(true);
    expect(count()).toBe(1);
  });

  it("keep a bad message from failing the good ones beside it", async () => {
    const messages = messagesOf(3);
    const proofs = await signBatch(testCrypto, signer, messages);
    const signed = messages.map((message, n) => ({ ...message, proof: proofs[n === 1 ? 0 : n] }));
    expect(await verifyProofs(testCrypto, publicKey, signed)).toEqual([true, false, true]);
  });

  it("do not verify under another key, even when the proof names it", async () => {
    const [message] = messagesOf(1);
    const [proof] = await signBatch(testCrypto, signer, messagesOf(1));
    if (message === undefined || proof === undefined) throw new Error("one message has one proof");
    const renamed = { ...proof, key: stranger.publicKey.thumbprint };
    expect(await verifyProof(testCrypto, publicKey, "ack", message.bytes, proof)).toBe(true);
    expect(await verifyProof(testCrypto, stranger.publicKey, "ack", message.bytes, proof)).toBe(false);
    expect(await verifyProof(testCrypto, stranger.publicKey, "ack", message.bytes, renamed)).toBe(false);
    expect(await verifyProof(testCrypto, publicKey, "ack", message.bytes, renamed)).toBe(false);
  });

  it("are refused empty and beyond the limit when signing", async () => {
    await expect(signBatch(testCrypto, signer, [])).rejects.toThrow("1 to 4096");
    await expect(signBatch(testCrypto, signer, messagesOf(4097))).rejects.toThrow("1 to 4096");
  });

  it("are not made for a typ that could imitate another", async () => {
    for (const typ of ["", "ack\0", "Ack", "a/b", "x".repeat(65)]) {
      await expect(signBatch(testCrypto, signer, [{ typ, bytes: toUtf8("") }])).rejects.toThrow("not a document type");
      expect(openProof(testCrypto, typ, toUtf8(""), {})).toBeNull();
    }
  });

  it("never throw at whatever stands in place of a proof", async () => {
    const [proof] = await signBatch(testCrypto, signer, messagesOf(1));
    const hostile = fc.oneof(
      fc.anything(),
      fc
        .record({
          key: fc.anything(),
          sig: fc.anything(),
          index: fc.anything(),
          size: fc.anything(),
          path: fc.anything(),
        })
        .map((parts) => ({ ...proof, ...parts })),
      fc.record({ index: fc.double(), size: fc.double() }).map((parts) => ({ ...proof, ...parts })),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (value) => {
        expect(await verifyProof(testCrypto, publicKey, "ack", toUtf8("another message"), value)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
