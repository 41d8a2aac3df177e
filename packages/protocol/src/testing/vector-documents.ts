// The documents that the vectors sign: fixed values, one of each typ, as the exact bytes an author might send.

import { contractId } from "../contract/contract-id.ts";
import type { DocumentOf, DocumentTyp } from "../documents.ts";
import { fromBase64url, toUtf8 } from "../encoding.ts";
import { payloadDigest } from "../payload.ts";
import { documentDigest } from "../signing.ts";
import { vectorTerms } from "./contract-vectors.ts";
import { manifestDigest, researchManifest } from "./manifest-vectors.ts";
import { testCrypto } from "./test-crypto.ts";

const relay = "https://relay.example";
const namespace = "default";
const id = "01932f6b-7a00-7c3a-9b1e-0123456789ab";
const salt = "AAECAwQFBgcICQoLDA0ODw";
const key = { kty: "OKP", crv: "Ed25519", x: "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw" } as const;
const challenge = "c29tZS1jaGFsbGVuZ2UtMTIzNDU2";

export interface VectorPayload {
  salt: string;
  text: string;
  sha256: string;
}

export function vectorPayload(text: string): VectorPayload {
  return { salt, text, sha256: payloadDigest(testCrypto, fromBase64url(salt) ?? new Uint8Array(), toUtf8(text)) };
}

function digestOf(text: string) {
  return { media_type: "application/json", size: toUtf8(text).length, salt, sha256: vectorPayload(text).sha256 };
}

const handoff: DocumentOf<"handoff"> = {
  v: 1,
  typ: "handoff",
  relay,
  namespace,
  from: "planner",
  id,
  capability: "web_research",
  correlation_id: "Zürich 🏔 7",
  priority: 5,
  labels: { team: "blue" },
  limits: { deadline_ms: 60_000, max_attempts: 3, retry: "attempts" },
  budget: { cost: 250_000, tokens: 20_000 },
  input: digestOf('{"query":"fsync"}'),
  ext: { "https://example.com/ext/shift": { night: true } },
};
const handoffDigest = documentDigest(testCrypto, "handoff", toUtf8(JSON.stringify(handoff)));

const registration: DocumentOf<"registration"> = {
  v: 1,
  typ: "registration",
  relay,
  namespace,
  agent_id: "research-1",
  challenge,
  key,
  capabilities: [
    {
      name: "web_research",
      description: "Reads the web and sums up what it found.",
      version: "1.2.0",
      input_schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
      timeout_seconds: 300,
      idempotent: true,
      tags: ["web"],
    },
  ],
};
const manifest = manifestDigest(researchManifest);
const lease = { id, handoff: handoffDigest, fence: 2, worker: "research-1.a", manifest };

export const vectorDocuments: { [Typ in DocumentTyp]: DocumentOf<Typ> } = {
  handoff,
  ack: { v: 1, typ: "ack", relay, namespace, from: "research-1", ...lease },
  outcome: {
    v: 1,
    typ: "outcome",
    relay,
    namespace,
    from: "research-1",
    ...lease,
    status: "completed",
    code: 200,
    output: digestOf('{"summary":"It flushes."}'),
    usage: { cost: 1200, tokens: 900 },
  },
  answer: {
    v: 1,
    typ: "answer",
    relay,
    namespace,
    from: "planner",
    id,
    question: "q-1",
    handoff: handoffDigest,
    answer: digestOf('"yes"'),
  },
  cancel: { v: 1, typ: "cancel", relay, namespace, from: "planner", id, handoff: handoffDigest, reason: "no need" },
  registration,
  contract: {
    v: 1,
    typ: "contract",
    relay,
    namespace,
    from: "planner",
    contract: contractId(testCrypto, vectorTerms),
    terms: vectorTerms,
  },
  proposal: {
    v: 1,
    typ: "proposal",
    relay,
    namespace,
    from: "research-1",
    offer: vectorTerms.offer,
    terms: vectorTerms,
  },
  rotation: {
    v: 1,
    typ: "rotation",
    relay,
    namespace,
    agent_id: "research-1",
    challenge,
    old: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    key,
  },
};
