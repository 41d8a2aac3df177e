/** What agents offered and offer: every manifest that was in force, as it was written and, where it was, signed. */

import { fields } from "@handfast/protocol";
import { manifest_page, manifest_query, manifest_view, type Static } from "@handfast/protocol/wire";
import Type from "typebox";
import type { PastManifest } from "../directory/manifest-history.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { json, operation } from "./operation.ts";

export const listManifests = operation(
  {
    name: "manifests",
    method: "GET",
    path: "/v1/agents/{name}/manifests",
    tag: "agents",
    access: "caller",
    summary: "Every manifest of an agent that was in force, newest first.",
    params: Type.Object({ name: fields.name }),
    query: manifest_query,
    replies: { 200: manifest_page },
    problems: [404],
  },
  async ({ relay, params, query }) => {
    const { limit = limits.page_size_default, after } = query;
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
    const found = await relay.directory.pastManifests(params.name, before, limit + 1);
    const page = found.slice(0, limit);
    return json({
      manifests: page.map(showPlace),
      after: found.length > limit ? String(page.at(-1)?.number ?? 0) : null,
    } satisfies Static<typeof manifest_page>);
  },
);

export const getManifest = operation(
  {
    name: "manifest",
    method: "GET",
    path: "/v1/manifests/{digest}",
    tag: "agents",
    access: "caller",
    summary: "One manifest by its digest, as it was written, with the registration that its agent signed.",
    params: Type.Object({ digest: fields.sha256 }),
    replies: { 200: manifest_view },
    problems: [404],
  },
  async ({ relay, params }) => {
    const found = await relay.directory.manifestByDigest(params.digest);
    if (found === null) {
      const next = "List those that are kept: GET /v1/agents/{name}/manifests.";
      throw new Problem(404, "unknown_manifest", `There is no manifest ${params.digest}. ${next}`);
    }
    const { agent, manifest, registration } = found;
    return json({ ...showPlace(found), agent_id: agent, manifest, registration });
  },
);

function showPlace({ digest, version, since, until, signed }: PastManifest) {
  return { digest, version, since, until, signed };
}
