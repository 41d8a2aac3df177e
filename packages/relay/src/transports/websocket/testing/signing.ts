/** Agents that sign, for tests of frames under one signature. */

import { randomBytes } from "node:crypto";
import {
  type Capability,
  leafDigest,
  makeId,
  merkleTree,
  payloadDigest,
  signBatch,
  toBase64url,
  toUtf8,
} from "@handfast/protocol";
import type { TestAgent as Key } from "../../../identity/testing/test-agent.ts";
import { nodeCrypto, nodeSigner } from "../../../proof/node-crypto.ts";
import { TestAgent, type TestRelay } from "../../../testing/test-relay.ts";

const header = (relay: TestRelay, typ: string) => ({ v: 1, typ, relay: relay.url, namespace: "default" });

/** Known to the relay by its key; the calls it makes carry a credential. */
export async function registered(relay: TestRelay, key: Key, capabilities: Capability[] = []): Promise<TestAgent> {
  const { challenge } = (await relay.post("/v1/agents/challenge", {})).body;
  const document = { ...header(relay, "registration"), agent_id: key.name, challenge, key: key.jwk, capabilities };
  const got = await relay.post("/v1/agents", { signed: await key.sign("registration", document) });
  if (got.status !== 201) throw new Error(`not registered: ${got.text}`);
  return new TestAgent(relay, key.name, await key.credential(relay.url, Date.now()));
}

export interface Unsigned {
  readonly typ: string;
  readonly document: string;
  readonly payload?: string;
}

export function unsignedHandoff(relay: TestRelay, from: string, payload: string, more: object = {}): Unsigned {
  const salt = randomBytes(16);
  const input = {
    media_type: "application/json",
    size: toUtf8(payload).length,
    salt: toBase64url(salt),
    sha256: payloadDigest(nodeCrypto, salt, toUtf8(payload)),
  };
  const id = makeId(Date.now(), randomBytes(10));
  const document = { ...header(relay, "handoff"), from, id, capability: "work", input, ...more };
  return { typ: "handoff", document: JSON.stringify(document), payload };
}

/** An ack or a cancel, or anything else without a payload. */
export function unsigned(relay: TestRelay, from: string, typ: string, said: object): Unsigned {
  return { typ, document: JSON.stringify({ ...header(relay, typ), from, ...said }) };
}

/** The signed body that such a document goes in, still without a proof. */
export function bodyOf({ document, payload }: Unsigned) {
  return { signed: { document, ...(payload === undefined ? {} : { payload }) } };
}

/** One signature over all of them, as it stands in a frame. */
export async function frameSignature(key: Key, documents: readonly Unsigned[]): Promise<{ key: string; sig: string }> {
  const { d = "" } = key.privateKey.export({ format: "jwk" });
  const messages = documents.map(({ typ, document }) => ({ typ, bytes: toUtf8(document) }));
  const [proof] = await signBatch(nodeCrypto, nodeSigner(Buffer.from(d, "base64url")), messages);
  if (proof === undefined) throw new Error("a signature needs a document");
  return { key: proof.key, sig: proof.sig };
}

/** The proof of one of them, as the client would have sent it itself. */
export function proofOf(documents: readonly Unsigned[], index: number, signature: { key: string; sig: string }) {
  const leaves = documents.map(({ typ, document }) => leafDigest(nodeCrypto, typ, toUtf8(document)));
  const path = (merkleTree(nodeCrypto, leaves).paths[index] ?? []).map(toBase64url);
  return { ...signature, index, size: documents.length, path };
}
