// Runs the checked-in vectors of spec/vectors against the code, as an implementation in another language would.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import { capabilityDigest, contractId } from "./contract/contract-id.ts";
import { fromBase64url, fromHex, toBase64url, toHex, toUtf8 } from "./encoding.ts";
import { parsePublicKey } from "./keys.ts";
import { manifestDigest } from "./manifest/manifest-digest.ts";
import { opensCost, saltByKey, saltByToken, sealCost } from "./manifest/seal-cost.ts";
import { payloadDigest } from "./payload.ts";
import { documentDigest, openProof, type Proof, verifyProof } from "./signing.ts";
import { parseStrictBytes } from "./strict-json.ts";
import { makeVectors } from "./testing/make-vectors.ts";
import { testCrypto, testKey } from "./testing/test-crypto.ts";

const folder = new URL("../../../spec/vectors/", import.meta.url);

type Vectors = Awaited<ReturnType<typeof makeVectors>>;

function load<Name extends keyof Vectors>(name: Name): Vectors[Name] {
  return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}

function decoded(text: string): Uint8Array {
  const bytes = fromBase64url(text);
  if (bytes === null) throw new Error(`${text} is not base64url`);
  return bytes;
}

function keyOf(jwk: unknown) {
  const parsed = parsePublicKey(testCrypto, jwk);
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.key;
}

const signature = load("signature.json");
const batch = load("batch.json");
const keys = load("keys.json");
const json = load("json.json");
const credential = load("credential.json");
const manifest = load("manifest.json");
const contract = load("contract.json");

it("the vectors are those the code makes (else run node packages/protocol/src/testing/make-vectors.ts)", async () => {
  const made: Vectors = JSON.parse(JSON.stringify(await makeVectors()));
  const names = Object.keys(made) as (keyof Vectors)[];
  expect(Object.fromEntries(names.map((name) => [name, load(name)]))).toEqual(made);
});

describe("signature.json", () => {
  const publicKey = keyOf(signature.jwk);

  it.each(signature.cases)("$name", async ({ typ, text, bytes, leaf_sha256, signed, proof }) => {
    expect(decoded(bytes)).toEqual(toUtf8(text));
    expect(documentDigest(testCrypto, typ, decoded(bytes))).toBe(leaf_sha256);
    const root = openProof(testCrypto, typ, decoded(bytes), proof);
    expect(toBase64url(root?.signed ?? new Uint8Array())).toBe(signed);
    expect(await verifyProof(testCrypto, publicKey, typ, decoded(bytes), proof)).toBe(true);
  });

  it.each(signature.payloads)("payload $text", ({ salt, text, sha256 }) => {
    expect(payloadDigest(testCrypto, decoded(salt), toUtf8(text))).toBe(sha256);
  });
});

describe("batch.json", () => {
  const publicKey = keyOf(batch.jwk);

  it.each(batch.batches)("size $size", async ({ root, messages }) => {
    for (const { typ, bytes, leaf_sha256, proof } of messages) {
      expect(documentDigest(testCrypto, typ, decoded(bytes))).toBe(leaf_sha256);
      const opened = openProof(testCrypto, typ, decoded(bytes), proof);
      expect(toHex(opened?.signed.slice(-32) ?? new Uint8Array())).toBe(root);
      expect(await verifyProof(testCrypto, publicKey, typ, decoded(bytes), proof)).toBe(true);
    }
  });

  it.each(batch.refused)("refuses $name", async ({ typ, bytes, proof }) => {
    expect(await verifyProof(testCrypto, publicKey, typ, decoded(bytes), proof)).toBe(false);
  });

  it("starts its refused proofs from one that holds", async () => {
    const whole = batch.batches.find(({ size }) => size === 5)?.messages[2];
    const proof: Proof | undefined = whole?.proof;
    expect(await verifyProof(testCrypto, publicKey, "outcome", toUtf8('{"n":2}'), proof)).toBe(true);
  });
});

describe("keys.json", () => {
  it.each(keys.accepted)("accepts $thumbprint", ({ jwk, thumbprint }) => {
    expect(keyOf(jwk).thumbprint).toBe(thumbprint);
  });

  it.each(keys.refused)("refuses $name", ({ jwk, fault }) => {
    expect(parsePublicKey(testCrypto, jwk)).toEqual({ ok: false, fault });
  });

  it("has the thumbprint that RFC 8037 prints for its example key", () => {
    expect(keys.accepted[0]?.thumbprint).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });
});

describe("json.json", () => {
  it.each(json.accepted)("accepts $text", ({ text, bytes }) => {
    expect(parseStrictBytes(decoded(bytes), json.limits)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it.each(json.refused)("refuses $bytes: $reason", ({ bytes, reason, path }) => {
    expect(parseStrictBytes(decoded(bytes), json.limits)).toMatchObject({ ok: false, fault: { reason, path } });
  });
});

describe("credential.json", () => {
  const publicKey = keyOf(credential.agent.jwk);

  it.each(credential.accepted)("signs the one $name", async ({ header, claims, signing_input, jwt }) => {
    const [head = "", middle = "", signature = ""] = jwt.split(".");
    expect(`${head}.${middle}`).toBe(signing_input);
    expect([head, middle].map((part) => JSON.parse(Buffer.from(decoded(part)).toString()))).toEqual([header, claims]);
    expect(await testCrypto.verify(publicKey.bytes, toUtf8(signing_input), decoded(signature))).toBe(true);
  });
});

describe("manifest.json", () => {
  it.each(manifest.cases)("$name", ({ text, canonical, sha256 }) => {
    const value = JSON.parse(text);
    expect(canonicalJson(value)).toBe(canonical);
    expect(manifestDigest(testCrypto, value)).toBe(sha256);
    expect(manifestDigest(testCrypto, { ...value, v: 1, challenge: "of a registration" })).toBe(sha256);
  });

  it.each(manifest.costs)("the cost $canonical", ({ canonical, salt, sha256 }) => {
    const opening = { salt, cost: JSON.parse(canonical) };
    expect(sealCost(testCrypto, opening)).toEqual({ sha256 });
    expect(opensCost(testCrypto, opening, { sha256 })).toBe(true);
    const other = { salt, cost: { ...opening.cost, amount: opening.cost.amount + 1 } };
    expect(opensCost(testCrypto, other, { sha256 })).toBe(false);
    expect(opensCost(testCrypto, { ...opening, salt: "AAECAw" }, { sha256 })).toBe(false);
  });

  it.each(manifest.salts)("a salt that a client makes", async ({ place, seed, token = "", salt }) => {
    const { agent_id, capability, cost } = JSON.parse(place);
    const { signer } = testKey(fromHex(seed ?? "00".repeat(32)) ?? new Uint8Array());
    const made =
      seed === undefined
        ? saltByToken(testCrypto, token, { agent_id, capability }, cost)
        : await saltByKey(testCrypto, signer, { agent_id, capability }, cost);
    expect(made).toBe(salt);
  });
});

describe("contract.json", () => {
  it.each(contract.cases)("$name", ({ text, canonical, contract_id }) => {
    expect(JSON.parse(canonical)).toEqual(JSON.parse(text));
    expect(toHex(testCrypto.sha256(toUtf8(canonical)))).toBe(contract_id);
    expect(contractId(testCrypto, JSON.parse(text))).toBe(contract_id);
  });

  it.each(contract.capabilities)("$name", ({ text, canonical, offered }) => {
    expect(toHex(testCrypto.sha256(toUtf8(canonical)))).toBe(offered);
    expect(capabilityDigest(testCrypto, JSON.parse(text))).toBe(offered);
  });
});
