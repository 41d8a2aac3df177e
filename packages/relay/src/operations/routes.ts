/** How work is divided among the versions of a capability: operators set it, and see it. */

import { closed, fields } from "@handfast/protocol";
import { route_body, route_page, route_view } from "@handfast/protocol/wire";
import Type from "typebox";
import { json, operation } from "./operation.ts";
import { checkVersionAsked } from "./version-asked.ts";

const capabilityParams = Type.Object({ capability: fields.name });

export const listRoutes = operation(
  {
    name: "routes",
    method: "GET",
    path: "/v1/routes",
    tag: "relay",
    access: "operator",
    summary: "How work is divided among the versions of capabilities.",
    replies: { 200: route_page },
    problems: [403],
  },
  async ({ relay }) => json({ routes: relay.routes.all() }),
);

export const setRoute = operation(
  {
    name: "set_route",
    method: "PUT",
    path: "/v1/routes/{capability}",
    tag: "relay",
    access: "operator",
    summary: "Divide the work for a capability among its versions, where senders do not say which they want.",
    params: capabilityParams,
    body: route_body,
    replies: { 200: route_view },
    problems: [403, 507],
  },
  async ({ relay, caller, params, body }) => {
    for (const [nth, { version }] of body.weights.entries()) checkVersionAsked(version, `/weights/${nth}/version`);
    return json(await relay.routes.set(params.capability, body, caller.name));
  },
);

export const dropRoute = operation(
  {
    name: "drop_route",
    method: "DELETE",
    path: "/v1/routes/{capability}",
    tag: "relay",
    access: "operator",
    summary: "Let the work for a capability go to any version again.",
    params: capabilityParams,
    replies: { 200: Type.Object({ done: Type.Literal(true) }, closed) },
    problems: [403, 404],
  },
  async ({ relay, params }) => {
    await relay.routes.drop(params.capability);
    return json({ done: true });
  },
);
