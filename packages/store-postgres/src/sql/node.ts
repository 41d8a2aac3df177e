/** Statements on nodes. Each writes its own row; whoever asks one to drain writes one column of it. */

import { given } from "../arrays.ts";
import { node_gone_ms } from "../limits.ts";
import { clock } from "./clock.ts";

export const nodeShape = {
  life: "text",
  name: "text",
  version: "text",
  since: "bigint",
  draining: "boolean",
  connections: "integer",
  calls: "integer",
  claims: "integer",
  ended: "boolean",
} as const;

/** A row that is gone comes back as the node is: whoever drains goes on draining. */
export const putNode = `
  INSERT INTO handfast.node (life, name, version, since, asked, draining, connections, calls, claims, ended, heard_at)
  SELECT life, name, version, since, draining, draining, connections, calls, claims, ended, ${clock}
  FROM ${given(nodeShape)}
  ON CONFLICT (life) DO UPDATE
  SET draining = excluded.draining, connections = excluded.connections, calls = excluded.calls,
    claims = excluded.claims, ended = excluded.ended, heard_at = excluded.heard_at
  RETURNING asked, NOT EXISTS (
    SELECT 1 FROM handfast.node AS other
    WHERE other.life <> node.life AND NOT other.ended AND other.heard_at > node.heard_at - ${node_gone_ms}
  ) AS alone`;

export const findNodes = `
  SELECT life, name, version, since, asked, draining, connections, calls, claims, ended, heard_at
  FROM handfast.node ORDER BY name, since, life`;

export const askNodes = "UPDATE handfast.node SET asked = $2::text::boolean WHERE life = ANY ($1::text[])";

export const pruneNodes = "DELETE FROM handfast.node WHERE heard_at < $1";
