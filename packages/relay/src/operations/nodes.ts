/** The nodes of a relay on one database: operators see them, and take one out before they replace it. */

import { node_page } from "@handfast/protocol/wire";
import Type from "typebox";
import { json, operation } from "./operation.ts";

const nodeParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 256 }) });

export const listNodes = operation(
  {
    name: "nodes",
    method: "GET",
    path: "/v1/nodes",
    tag: "relay",
    access: "operator",
    summary: "The nodes of this relay, and what is under way at each.",
    replies: { 200: node_page },
    problems: [403],
  },
  async ({ relay }) => json(await relay.nodes.list()),
);

export const drainNode = operation(
  {
    name: "drain_node",
    method: "POST",
    path: "/v1/nodes/{name}/drain",
    tag: "relay",
    access: "operator",
    summary: "Let a node take no new work, whichever node is asked. It hears of it within about a second.",
    params: nodeParams,
    body: Type.Object({}, { additionalProperties: false }),
    replies: { 200: node_page },
    problems: [403, 404, 409],
  },
  async ({ relay, params }) => json(await relay.nodes.ask(params.name, true)),
);

export const undrainNode = operation(
  {
    name: "undrain_node",
    method: "DELETE",
    path: "/v1/nodes/{name}/drain",
    tag: "relay",
    access: "operator",
    summary: "Let a node that drains take work again.",
    params: nodeParams,
    replies: { 200: node_page },
    problems: [403, 404, 409],
  },
  async ({ relay, params }) => json(await relay.nodes.ask(params.name, false)),
);
