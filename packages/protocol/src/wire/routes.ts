/** How work for a capability is divided among its versions, where its senders do not say which they want. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { wireLimits } from "../limits.ts";
import { time } from "./handoff.ts";

const weight = Type.Object(
  {
    version: fields.version_range,
    weight: Type.Integer({
      minimum: 0,
      maximum: wireLimits.route_weight_most,
      description: "Its share of the sum of all weights.",
    }),
  },
  closed,
);

export const route_body = Type.Object(
  { weights: Type.Array(weight, { minItems: 1, maxItems: wireLimits.route_weights }) },
  closed,
);
export type RouteBody = Static<typeof route_body>;

export const route_view = Type.Object({
  capability: Type.String(),
  weights: Type.Array(weight),
  set_at: time,
  set_by: Type.String(),
});
export type RouteView = Static<typeof route_view>;

export const route_page = Type.Object({ routes: Type.Array(route_view) });
