/** Agents that are registered elsewhere and known here: fetched from their discovery endpoint, verified, refreshed. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { nullable, time } from "./handoff.ts";

export const import_request = Type.Object({ url: fields.url }, closed);

export const import_view = Type.Object({
  name: Type.String({ description: "`name@origin`" }),
  url: Type.String(),
  kind: Type.Enum(["manifest", "agent_card"], {
    description: "manifest: signed by the agent. agent_card: of A2A, and nobody vouches for it.",
  }),
  verified: Type.Boolean({ description: "Whether the agent's own signature vouches for what it offers." }),
  key: nullable(Type.String({ description: "Thumbprint of the key that signed it: another is refused." })),
  manifest: Type.String({ description: "Digest of what it offers." }),
  version: nullable(Type.Integer()),
  capabilities: Type.Array(Type.String()),
  imported_at: time,
  fetched_at: time,
  lease_until: time,
  lapsed: Type.Boolean(),
  next_refresh_at: time,
  failures: Type.Integer({ description: "How many refreshes in a row came to nothing." }),
  failure: nullable(Type.String({ description: "Why the last one did." })),
});

export const import_page = Type.Object({ imports: Type.Array(import_view) });

export type ImportView = Static<typeof import_view>;
