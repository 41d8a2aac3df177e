// What spec/example.md shows holds: read from the page alone, as somebody would who writes a client from it.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { DocumentTyp } from "./documents.ts";
import { fromBase64url, toHex, toUtf8 } from "./encoding.ts";
import { parsePublicKey } from "./keys.ts";
import { payloadDigest } from "./payload.ts";
import { readDocument } from "./read-document.ts";
import { documentDigest, verifyProof } from "./signing.ts";
import { exampleValues, fillExample, valuesIn } from "./testing/example.ts";
import { testCrypto } from "./testing/test-crypto.ts";

const page = readFileSync(new URL("../../../spec/example.md", import.meta.url), "utf8");
const values = valuesIn(page);

function shown(name: string): string {
  const value = values.get(name);
  if (value === undefined) throw new Error(`spec/example.md does not show ${name}`);
  return value;
}

function keyOf(agent: string) {
  const [, jwk = ""] = /^jwk +(.*)$/m.exec(shown(agent)) ?? [];
  const parsed = parsePublicKey(testCrypto, JSON.parse(jwk));
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.key;
}

function documentOf<Typ extends DocumentTyp>(typ: Typ) {
  const read = readDocument(typ, toUtf8(shown(`${typ} document`)));
  if (!read.ok) throw new Error(read.fault.message);
  return read.document;
}

describe("spec/example.md", () => {
  it("shows every value as it is made (else run node packages/protocol/src/testing/make-vectors.ts)", async () => {
    expect(await fillExample(page)).toBe(page);
    expect([...values.keys()].sort()).toEqual([...(await exampleValues()).keys()].sort());
  });

  it.each([
    { typ: "registration", author: "research-1" },
    { typ: "handoff", author: "planner" },
    { typ: "ack", author: "research-1" },
    { typ: "outcome", author: "research-1" },
  ] as const)("has a $typ that $author signed, in a body that carries it exactly", async ({ typ, author }) => {
    const { signed } = JSON.parse(shown(`${typ} body`));
    expect(signed.document).toBe(shown(`${typ} document`));
    expect(readDocument(typ, toUtf8(signed.document)).ok).toBe(true);
    expect(await verifyProof(testCrypto, keyOf(author), typ, toUtf8(signed.document), signed.proof)).toBe(true);
  });

  it.each([
    { typ: "handoff", digest: documentOf("handoff").input },
    { typ: "outcome", digest: documentOf("outcome").output },
  ])("sends the payload that its $typ binds", ({ typ, digest }) => {
    const payload = toUtf8(JSON.parse(shown(`${typ} body`)).signed.payload);
    expect(payload.length).toBe(digest?.size);
    expect(payloadDigest(testCrypto, fromBase64url(digest?.salt ?? "") ?? payload, payload)).toBe(digest?.sha256);
  });

  it("binds ack and outcome to the handoff, the lease and the manifest", () => {
    const digest = documentDigest(testCrypto, "handoff", toUtf8(shown("handoff document")));
    const manifest = toHex(testCrypto.sha256(toUtf8(shown("manifest"))));
    const lease = JSON.parse(shown("lease"));
    expect([shown("handoff digest"), lease.digest]).toEqual([digest, digest]);
    expect([JSON.parse(shown("registered")).manifest, lease.manifest]).toEqual([manifest, manifest]);
    const { agent_id, capabilities } = documentOf("registration");
    expect(JSON.parse(shown("manifest"))).toEqual({ agent_id, capabilities });
    const { id, fence } = lease;
    for (const typ of ["ack", "outcome"] as const) {
      expect(documentOf(typ)).toMatchObject({ id, fence, handoff: digest, manifest, from: agent_id });
    }
  });

  it("has a credential that planner signed", async () => {
    const [header = "", claims = "", signature = ""] = shown("credential").split(".");
    const bytes = toUtf8(shown("credential signing input"));
    expect(`${header}.${claims}`).toBe(shown("credential signing input"));
    expect(Buffer.from(header, "base64url").toString()).toBe(shown("credential header"));
    expect(Buffer.from(claims, "base64url").toString()).toBe(shown("credential claims"));
    expect(await testCrypto.verify(keyOf("planner").bytes, bytes, fromBase64url(signature) ?? bytes)).toBe(true);
    expect(JSON.parse(shown("credential header")).kid).toBe(keyOf("planner").thumbprint);
  });
});
