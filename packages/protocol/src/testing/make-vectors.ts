// Writes spec/vectors/: node packages/protocol/src/testing/make-vectors.ts. Every run gives the same values.
import { writeFileSync } from "node:fs";
import { jsonVectors } from "./json-vectors.ts";
import { keyVectors } from "./key-vectors.ts";
import { batchVectors, signatureVectors } from "./signature-vectors.ts";

export async function makeVectors() {
  return {
    "signature.json": await signatureVectors(),
    "batch.json": await batchVectors(),
    "keys.json": keyVectors(),
    "json.json": jsonVectors(),
  };
}

if (import.meta.main) {
  const folder = new URL("../../../../spec/vectors/", import.meta.url);
  for (const [name, vectors] of Object.entries(await makeVectors())) {
    writeFileSync(new URL(name, folder), `${JSON.stringify(vectors, null, 2)}\n`);
  }
}
