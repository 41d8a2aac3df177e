/** What the relay says about itself. */

import Type from "typebox";
import { closed, fields } from "../fields.ts";

export const health = Type.Object({
  status: Type.Enum(["ok", "not_ready"]),
  reasons: Type.Array(Type.String()),
  node: Type.Optional(Type.String({ description: "Which node of the relay answers, where it has a name." })),
});

export const about = Type.Object({
  protocol: Type.Literal("handfast"),
  versions: Type.Array(Type.String()),
  software: Type.Object({ name: Type.String(), version: Type.String() }),
  namespace: Type.String(),
  mode: Type.Enum(["development", "production"]),
  public_urls: Type.Array(Type.String()),
  websocket_urls: Type.Array(Type.String(), {
    description: "Where to open a WebSocket with the subprotocol handfast.v1.",
  }),
  relay_key: fields.jwk,
  features: Type.Array(Type.String()),
  limits: Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "number" } }),
});

export const backup_request = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
        description: "Of the new file in the folder backups of the data directory.",
      }),
    ),
  },
  closed,
);
export const backup_reply = Type.Object({ path: Type.String() });
