/** Files that go along with a handoff: put up under their SHA-256 first, then referred to. */

import type { Artifact } from "@handfast/protocol";
import { toHex } from "@handfast/protocol/client";
import type { Base } from "../base.ts";
import type { CallOptions } from "../link/link.ts";
import { shown } from "../shown.ts";
import { usage } from "./faults.ts";
import type { ArtifactBytes, SendOptions } from "./options.ts";

/** References to all of them. Bytes that are up already cost one call and change nothing. */
export async function putArtifacts(
  base: Base,
  { artifacts = [] }: SendOptions,
  options: CallOptions,
): Promise<readonly Artifact[]> {
  if (!Array.isArray(artifacts)) throw usage(`The option artifacts is ${shown(artifacts)}.`, "Give an array.");
  return Promise.all(artifacts.map((each) => (hasBytes(each) ? put(base, each, options) : reference(each))));
}

function hasBytes(given: ArtifactBytes | Artifact): given is ArtifactBytes {
  return typeof given === "object" && given !== null && "bytes" in given;
}

function reference(artifact: Artifact): Artifact {
  const is_one = typeof artifact === "object" && artifact !== null;
  if (is_one && /^[0-9a-f]{64}$/.test(artifact.sha256) && Number.isInteger(artifact.size)) return artifact;
  throw usage(
    `${shown(artifact)} is no artifact.`,
    "Give { bytes, mediaType, name } or a reference { sha256, size, media_type, name }.",
  );
}

async function put(base: Base, given: ArtifactBytes, options: CallOptions): Promise<Artifact> {
  const { bytes, mediaType = "application/octet-stream", name } = given;
  if (!(bytes instanceof Uint8Array)) throw usage("The bytes of an artifact are no Uint8Array.", "Give a Uint8Array.");
  const sha256 = toHex(base.crypto.sha256(bytes));
  const { size } = await base.link.call("put_artifact", { params: { sha256 }, body: bytes }, options);
  return { sha256, size, media_type: mediaType, ...(name === undefined ? {} : { name }) };
}
