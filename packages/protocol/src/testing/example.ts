// The values in spec/example.md: one handoff from registration to outcome, everything signed. The prose is the page's
// own; each block that follows a comment <!-- value: name --> is filled in from here.
import type { DocumentOf, DocumentTyp } from "../documents.ts";
import { toHex, toUtf8 } from "../encoding.ts";
import { documentDigest, openProof, signBatch } from "../signing.ts";
import { exampleClaims, exampleHeader, jwtOf } from "./credential-vectors.ts";
import { manifestDigest, researchManifest } from "./manifest-vectors.ts";
import { keyOf, seeds } from "./signature-vectors.ts";
import { testCrypto } from "./test-crypto.ts";
import { vectorDocuments, vectorPayload } from "./vector-documents.ts";

const planner = keyOf(seeds[0]);
const researcher = keyOf(seeds[1]);
const input = vectorPayload('{"query":"fsync"}');
const output = vectorPayload('{"summary":"It flushes."}');

async function signed<Typ extends DocumentTyp>(typ: Typ, said: DocumentOf<Typ>, { signer } = planner) {
  const document = JSON.stringify(said);
  const bytes = toUtf8(document);
  const [proof] = await signBatch(testCrypto, signer, [{ typ, bytes }]);
  const root = openProof(testCrypto, typ, bytes, proof);
  return {
    document,
    proof,
    digest: documentDigest(testCrypto, typ, bytes),
    signed_bytes: toHex(root?.signed ?? new Uint8Array()),
  };
}

function body({ document, proof }: { document: string; proof: unknown }, payload?: string): string {
  return JSON.stringify({ signed: { document, ...(payload === undefined ? {} : { payload }), proof } });
}

export async function exampleValues(): Promise<ReadonlyMap<string, string>> {
  const registration = await signed("registration", vectorDocuments.registration, researcher);
  const credential = await jwtOf(exampleHeader, exampleClaims);
  const handoff = await signed("handoff", vectorDocuments.handoff);
  const manifest = manifestDigest(researchManifest);
  const { id, labels, correlation_id, input: payload } = vectorDocuments.handoff;
  const lease = { id, fence: 2, from: "planner", capability: "web_research", correlation_id };
  const given = {
    input: JSON.parse(input.text),
    payload,
    labels,
    evidence: "signed",
    manifest,
    digest: handoff.digest,
  };
  const ack = await signed("ack", vectorDocuments.ack, researcher);
  const outcome = await signed("outcome", vectorDocuments.outcome, researcher);
  return new Map([
    ["planner", lines({ seed: seeds[0], jwk: planner.publicKey.jwk, thumbprint: planner.signer.key })],
    ["research-1", lines({ seed: seeds[1], jwk: researcher.publicKey.jwk, thumbprint: researcher.signer.key })],
    ["challenge", JSON.stringify({ challenge: vectorDocuments.registration.challenge, expires_in_seconds: 60 })],
    ["registration document", registration.document],
    ["registration digest", registration.digest],
    ["registration signed bytes", registration.signed_bytes],
    ["registration proof", JSON.stringify(registration.proof)],
    ["registration body", body(registration)],
    ["manifest", researchManifest],
    ["registered", JSON.stringify({ agent_id: "research-1", identity: researcher.signer.key, manifest })],
    ["credential header", JSON.stringify(credential.header)],
    ["credential claims", JSON.stringify(credential.claims)],
    ["credential signing input", credential.signing_input],
    ["credential", credential.jwt],
    ["input", lines({ payload: input.text, salt: input.salt, sha256: input.sha256 })],
    ["handoff document", handoff.document],
    ["handoff digest", handoff.digest],
    ["handoff body", body(handoff, input.text)],
    ["lease", JSON.stringify({ ...lease, ...given })],
    ["ack document", ack.document],
    ["ack body", body(ack)],
    ["output", lines({ payload: output.text, salt: output.salt, sha256: output.sha256 })],
    ["outcome document", outcome.document],
    ["outcome body", body(outcome, output.text)],
  ]);
}

function lines(values: Readonly<Record<string, unknown>>): string {
  const told = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(10)}  ${told(value)}`)
    .join("\n");
}

const value = /^<!-- value: (.+?) -->\n\n```(\w*)\n([\s\S]*?)\n```$/gm;

/** The values that the page shows, by name. */
export function valuesIn(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(value)].map(([, name = "", , shown = ""]) => [name, shown]));
}

export async function fillExample(page: string): Promise<string> {
  const values = await exampleValues();
  return page.replaceAll(value, (_, name: string, language: string) => {
    const shown = values.get(name);
    if (shown === undefined) throw new Error(`spec/example.md asks for ${JSON.stringify(name)}, which is no value.`);
    return `<!-- value: ${name} -->\n\n\`\`\`${language}\n${shown}\n\`\`\``;
  });
}
