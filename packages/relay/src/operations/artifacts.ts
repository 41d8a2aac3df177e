/** Artifacts up and down, by digest. */

import { fields } from "@handfast/protocol";
import Type from "typebox";
import { Problem } from "../problem.ts";
import { fitter } from "../schemas/fit.ts";
import { json, operation } from "./operation.ts";

const params = Type.Object({ sha256: fields.sha256 });
const fitMediaType = fitter(fields.media_type, "body");

export const putArtifact = operation(
  {
    name: "put_artifact",
    method: "PUT",
    path: "/v1/artifacts/{sha256}",
    tag: "artifacts",
    access: "caller",
    summary: "Put bytes up under their SHA-256. What no handoff refers to is dropped after a day.",
    params,
    streams_body: true,
    replies: {
      201: Type.Object({ sha256: Type.String(), size: Type.Integer(), media_type: Type.String() }),
      200: Type.Object({ sha256: Type.String(), size: Type.Integer(), media_type: Type.String() }),
    },
    problems: [413, 422, 429, 507],
  },
  async ({ relay, caller, params: { sha256 }, request }) => {
    const { stream, content_type, content_length } = request;
    if (stream === null) throw new Problem(400, "no_body", "The bytes of the artifact are missing.");
    const type = content_type ?? "application/octet-stream";
    fitMediaType(type);
    const { size, created } = await relay.artifacts.put(caller, sha256, type, content_length, stream);
    return json({ sha256, size, media_type: type }, created ? 201 : 200);
  },
);

export const getArtifact = operation(
  {
    name: "get_artifact",
    method: "GET",
    path: "/v1/artifacts/{sha256}",
    tag: "artifacts",
    access: "caller",
    summary:
      "The bytes, for whoever put them up and for the parties of a handoff that refers to them. Ranges are served.",
    params,
    replies: { 200: null, 206: null },
    media_type: "application/octet-stream",
    problems: [404],
  },
  async ({ relay, caller, params: { sha256 }, request }) => {
    const { size, media_type: type } = await relay.artifacts.find(caller, sha256);
    const range = request.range === null ? null : readRange(request.range, size);
    const [start, end] = range ?? [0, size - 1];
    const headers = {
      // Bytes from strangers: saved, never shown or run by a browser.
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "handfast-media-type": type,
      "content-length": String(end - start + 1),
      "accept-ranges": "bytes",
      etag: `"${sha256}"`,
      ...(range === null ? {} : { "content-range": `bytes ${start}-${end}/${size}` }),
    };
    const bytes = size === 0 ? nothing() : relay.artifacts.read(sha256, start, end);
    return { kind: "bytes", status: range === null ? 200 : 206, headers, bytes };
  },
);

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** One range, as RFC 9110 has it; null, and the whole is sent, for what is not one. */
function readRange(header: string, size: number): readonly [number, number] | null {
  const match = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header.trim());
  const [, first = "", last = ""] = match ?? [];
  if (match === null || (first === "" && last === "")) return null;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  return start <= end && start < size ? [start, end] : null;
}
