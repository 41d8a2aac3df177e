/** Every manifest that was in force: a list for each agent, and each by its digest. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { wireLimits } from "../limits.ts";
import { manifest } from "../manifest/manifest-schema.ts";
import { envelope, manifest_reply } from "./agents.ts";
import { nullable } from "./handoff.ts";

const until = nullable(Type.Integer({ description: "When another took its place; null: it is in force." }));

export const manifest_query = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: wireLimits.page_size_most })),
    after: Type.Optional(Type.String({ pattern: "^[0-9]{1,15}$" })),
  },
  closed,
);

/** Newest first. One that came back into force is listed once for each time. */
export const manifest_page = Type.Object({
  manifests: Type.Array(Type.Object({ ...manifest_reply.properties, until })),
  after: nullable(Type.String()),
});

export const manifest_view = Type.Object({
  ...manifest_reply.properties,
  until,
  agent_id: fields.name,
  manifest,
  registration: nullable(
    Type.Object(envelope, { description: "As the agent signed it: whoever has its key need not trust the relay." }),
  ),
});

export type ManifestView = Static<typeof manifest_view>;
