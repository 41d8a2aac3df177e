/** Agents, their keys, what they offer, and tokens for callers that cannot sign. */

import Type from "typebox";
import { manifestFields } from "../documents.ts";
import { closed, fields } from "../fields.ts";
import { wireLimits } from "../limits.ts";
import { liveness } from "./discovery.ts";
import { nullable, time } from "./handoff.ts";

export const envelope = {
  document: Type.String({ minLength: 2, description: "The exact text that was signed." }),
  proof: fields.proof,
};

export const challenge_reply = Type.Object({ challenge: Type.String(), expires_in_seconds: Type.Integer() });

/** A signed registration document (typ `registration`), and beside it what opens the costs that it seals. */
export const registration = Type.Object(
  { signed: Type.Object(envelope, closed), costs: Type.Optional(fields.costs) },
  closed,
);

/** A signed rotation document: by the old key, and by the new one to show that it is held. */
export const rotation = Type.Object({ signed: Type.Object({ ...envelope, new_proof: fields.proof }, closed) }, closed);

export const registered = Type.Object({
  agent_id: Type.String(),
  identity: nullable(Type.String({ description: "Thumbprint of the first key." })),
  manifest: nullable(Type.String()),
  since: nullable(time),
  created: Type.Boolean(),
});

export const capabilities_body = Type.Object({ ...manifestFields, costs: Type.Optional(fields.costs) }, closed);
export const manifest_reply = Type.Object({
  digest: Type.String(),
  since: time,
  signed: Type.Boolean(),
  version: nullable(Type.Integer()),
});

export const agent_view = Type.Object({
  name: Type.String(),
  identity: nullable(Type.String()),
  description: nullable(Type.String()),
  registered_at: time,
  capabilities: Type.Array(fields.capability, {
    description: "With every schema in full. As they were written, they are in the manifest.",
  }),
  manifest: nullable(manifest_reply),
  discovery_endpoint: nullable(Type.String()),
  liveness,
  last_seen_at: nullable(time),
  workers: Type.Array(
    Type.Object({
      worker: Type.String(),
      last_seen_at: time,
      asking: Type.Boolean({ description: "It has an open claim at this moment: work would reach it at once." }),
    }),
  ),
  keys: Type.Array(
    Type.Object({
      thumbprint: Type.String(),
      x: Type.String(),
      added_at: time,
      valid_until: nullable(time),
      revoked_at: nullable(time),
    }),
  ),
});

export const agent_query = Type.Object(
  {
    capability: Type.Optional(fields.name),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: wireLimits.page_size_most })),
    after: Type.Optional(fields.name),
  },
  closed,
);
export const agent_page = Type.Object({ agents: Type.Array(agent_view), after: nullable(Type.String()) });

export const token_request = Type.Object(
  {
    agent: fields.name,
    capabilities: Type.Optional(fields.capabilities),
    costs: Type.Optional(fields.costs),
    label: Type.Optional(Type.String({ maxLength: wireLimits.token_label_chars })),
    life_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 366 * 24 * 60 * 60 * 1_000 })),
  },
  closed,
);
export const token_view = Type.Object({
  id: Type.String(),
  agent: Type.String(),
  hint: Type.String(),
  label: nullable(Type.String()),
  created_at: time,
  expires_at: nullable(time),
});
export const token_reply = Type.Object({
  ...token_view.properties,
  token: Type.String({ description: "Shown this once." }),
});
export const token_query = Type.Object({ agent: Type.Optional(fields.name) }, closed);
