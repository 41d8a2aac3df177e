// Writes spec/vectors/ and the values in spec/example.md: node packages/protocol/src/testing/make-vectors.ts. Every run
// gives the same values.
import { readFileSync, writeFileSync } from "node:fs";
import { contractVectors } from "./contract-vectors.ts";
import { credentialVectors } from "./credential-vectors.ts";
import { fillExample } from "./example.ts";
import { jsonVectors } from "./json-vectors.ts";
import { keyVectors } from "./key-vectors.ts";
import { manifestVectors } from "./manifest-vectors.ts";
import { batchVectors, signatureVectors } from "./signature-vectors.ts";

export async function makeVectors() {
  return {
    "signature.json": await signatureVectors(),
    "batch.json": await batchVectors(),
    "keys.json": keyVectors(),
    "json.json": jsonVectors(),
    "credential.json": await credentialVectors(),
    "manifest.json": await manifestVectors(),
    "contract.json": contractVectors(),
  };
}

if (import.meta.main) {
  const folder = new URL("../../../../spec/vectors/", import.meta.url);
  for (const [name, vectors] of Object.entries(await makeVectors())) {
    writeFileSync(new URL(name, folder), `${JSON.stringify(vectors, null, 2)}\n`);
  }
  const example = new URL("../example.md", folder);
  writeFileSync(example, await fillExample(readFileSync(example, "utf8")));
}
