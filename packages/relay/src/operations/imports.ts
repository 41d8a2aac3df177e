/** Agents that are registered elsewhere: imported, refreshed and dropped by operators. */

import { found_name, type ImportView, import_page, import_request, import_view } from "@handfast/protocol/wire";
import Type from "typebox";
import type { Import } from "../directory/imports/imports.ts";
import { json, operation } from "./operation.ts";
import type { Relay } from "./relay.ts";

const importParams = Type.Object({ name: found_name });

export const importAgent = operation(
  {
    name: "import_agent",
    method: "POST",
    path: "/v1/imports",
    tag: "discovery",
    access: "operator",
    summary:
      "Make an agent of another relay known here: from its discovery endpoint, verified; or from an A2A agent card.",
    body: import_request,
    replies: { 200: import_view },
    problems: [409, 413, 507],
  },
  async ({ relay, body }) => json(showImport(relay, await relay.imports.import(body.url))),
);

export const listImports = operation(
  {
    name: "imports",
    method: "GET",
    path: "/v1/imports",
    tag: "discovery",
    access: "operator",
    summary: "What was imported, and how its refreshes go.",
    replies: { 200: import_page },
  },
  async ({ relay }) => json({ imports: relay.imports.list().map((each) => showImport(relay, each)) }),
);

export const refreshImport = operation(
  {
    name: "refresh_import",
    method: "POST",
    path: "/v1/imports/{name}/refresh",
    tag: "discovery",
    access: "operator",
    summary: "Fetch an imported agent again, now.",
    params: importParams,
    body: Type.Object({}, { additionalProperties: false }),
    replies: { 200: import_view },
    problems: [404, 409, 413],
  },
  async ({ relay, params }) => json(showImport(relay, await relay.imports.refresh(params.name))),
);

export const dropImport = operation(
  {
    name: "drop_import",
    method: "DELETE",
    path: "/v1/imports/{name}",
    tag: "discovery",
    access: "operator",
    summary: "Forget an imported agent and the key it was known by.",
    params: importParams,
    replies: { 200: Type.Object({ done: Type.Literal(true) }) },
    problems: [404],
  },
  async ({ relay, params }) => {
    await relay.imports.drop(params.name);
    return json({ done: true });
  },
);

function showImport({ engine }: Relay, imported: Import): ImportView {
  const { name, url, told, imported_at, fetched_at, lease_until, next_refresh_at, failures, failure } = imported;
  return {
    name,
    url,
    kind: told.kind,
    verified: told.key !== null,
    key: told.key?.thumbprint ?? null,
    manifest: told.manifest,
    version: told.version,
    capabilities: told.capabilities.map((each) => each.name),
    imported_at,
    fetched_at,
    lease_until,
    lapsed: engine.now() >= lease_until,
    next_refresh_at,
    failures,
    failure,
  };
}
