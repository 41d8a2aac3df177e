/** The nodes of a relay that runs on one database. */

import Type, { type Static } from "typebox";
import { nullable, time } from "./handoff.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const node_view = Type.Object({
  name: nullable(Type.String({ description: "Null: the relay is alone with its store, and nobody named it." })),
  life: Type.String({ description: "Which of its starts this is: another one with each." }),
  version: Type.String(),
  since: time,
  heard_at: time,
  state: Type.Enum(["running", "draining", "drained", "ended", "gone"], {
    description:
      "draining: it takes no new work, or was asked to. drained: nothing is under way there any more. ended: it stopped in order. gone: it was not heard of for a while.",
  }),
  connections: count("WebSockets of agents and others."),
  calls: count("Calls of agents that are in flight."),
  claims: count("Claims that wait for work."),
});
export type NodeView = Static<typeof node_view>;

export const node_page = Type.Object({
  nodes: Type.Array(node_view),
  answered_by: Type.String({ description: "The life of the node that answers." }),
});
