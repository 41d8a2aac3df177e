// The manifest as one JSON Schema: of a file, where a cost is plain, and of one that was registered, where it is sealed.

import Type from "typebox";
import { manifestFields } from "../documents.ts";
import { closed, fields } from "../fields.ts";
import { protocolLimits } from "../limits.ts";

const { cost: sealed, ...plain } = fields.capability.properties;

const capability = Type.Object(
  { ...plain, cost: Type.Optional(Type.Union([fields.cost, sealed])) },
  { ...closed, description: "A cost is plain in a file, and sealed by whoever registers it." },
);

export const manifest = Type.Object(
  {
    agent_id: fields.name,
    ...manifestFields,
    capabilities: Type.Array(capability, { maxItems: protocolLimits.capabilities }),
  },
  closed,
);
