import { createHash, generateKeyPairSync } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { parsePublicKey, signBatch, toUtf8, verifyProof } from "@handfast/protocol";
import { describe, expect, it } from "vitest";
import { nodeCrypto, nodeSigner } from "./node-crypto.ts";

const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
const publicKey = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");

describe("node crypto", () => {
  it("signs and verifies the first vector of RFC 8032", async () => {
    const sig = await nodeSigner(seed).sign(new Uint8Array());
    expect(Buffer.from(sig).toString("hex")).toMatch(/^e5564300c360ac729086e2cc806e828a84877f1eb8e5d974/);
    expect(await nodeCrypto.verify(publicKey, new Uint8Array(), sig)).toBe(true);
    expect(await nodeCrypto.verify(publicKey, Uint8Array.of(0), sig)).toBe(false);
  });

  it("names its signer by the thumbprint of RFC 8037", () => {
    expect(nodeSigner(seed).key).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });

  it("hashes as SHA-256 does", () => {
    const expected = createHash("sha256").update("abc").digest("hex");
    expect(Buffer.from(nodeCrypto.sha256(toUtf8("abc"))).toString("hex")).toBe(expected);
  });

  it("hashes a text as its bytes in UTF-8, in hexadecimal", () => {
    const expected = createHash("sha256").update("Grüße").digest("hex");
    expect(nodeCrypto.sha256Hex("Grüße")).toBe(expected);
    expect(nodeCrypto.sha256Hex(toUtf8("Grüße"))).toBe(expected);
  });

  it("verifies one that comes alone at once, and the rest of a crowd on threads, with the same answers", async () => {
    const sig = await nodeSigner(seed).sign(new Uint8Array());
    await setImmediate();
    const unusable = new Uint8Array(32).fill(2);
    expect(nodeCrypto.verify(publicKey, new Uint8Array(), sig)).toBe(true);
    const others = [publicKey, publicKey, unusable].map((key) => nodeCrypto.verify(key, new Uint8Array(), sig));
    expect(others.every((other) => other instanceof Promise)).toBe(true);
    expect(await Promise.all(others)).toEqual([true, true, false]);
    await setImmediate();
    expect(nodeCrypto.verify(unusable, new Uint8Array(), sig)).toBe(false);
  });

  it("answers false, without a throw, for a key or signature that is none", async () => {
    const sig = new Uint8Array(64);
    expect(await nodeCrypto.verify(publicKey, new Uint8Array(), sig.slice(1))).toBe(false);
    expect(await nodeCrypto.verify(publicKey.subarray(1), new Uint8Array(), sig)).toBe(false);
    expect(await nodeCrypto.verify(new Uint8Array(32).fill(255), new Uint8Array(), sig)).toBe(false);
    expect(await nodeCrypto.verify(new Uint8Array(32).fill(2), new Uint8Array(), sig)).toBe(false);
  });

  it("keeps verifying when more keys come than it caches", async () => {
    const bytes = toUtf8("x");
    for (let n = 0; n < 4100; n++) {
      const unknown = new Uint8Array(32);
      new DataView(unknown.buffer).setUint16(0, n);
      await nodeCrypto.verify(unknown, bytes, new Uint8Array(64));
    }
    const sig = await nodeSigner(seed).sign(bytes);
    expect(await nodeCrypto.verify(publicKey, bytes, sig)).toBe(true);
  });

  it("carries a batch signature from Node's own keys through the protocol", async () => {
    const pair = generateKeyPairSync("ed25519");
    const { d, ...jwk } = pair.privateKey.export({ format: "jwk" });
    const parsed = parsePublicKey(nodeCrypto, jwk);
    if (!parsed.ok || d === undefined) throw new Error("Node made a key that the protocol refuses");
    const messages = ["a", "b", "c"].map((text) => ({ typ: "ack", bytes: toUtf8(text) }));
    const proofs = await signBatch(nodeCrypto, nodeSigner(Buffer.from(d, "base64url")), messages);
    expect(await verifyProof(nodeCrypto, parsed.key, "ack", toUtf8("c"), proofs[2])).toBe(true);
    expect(await verifyProof(nodeCrypto, parsed.key, "ack", toUtf8("b"), proofs[2])).toBe(false);
  });
});
