/** Reasons of routing: versions that are asked for, and how work is divided among them. */

import type { Reason } from "./reason.ts";

export const routingReasons: readonly Reason[] = [
  {
    codes: [400],
    reason: "version_of_nothing",
    cause: "The handoff asks for a version and names no capability that it could be of.",
    remedy: "Name the capability, or leave the version out.",
  },
  {
    codes: [406],
    reason: "no_such_version",
    cause:
      "Agents offer the capability, but none in a version that lies in the range asked for; `versions` are those there are.",
    remedy: "Ask for one of those, or send with queue_if_absent to wait for the other.",
  },
  {
    codes: [501],
    reason: "version_differs",
    cause:
      "The agent changed the version of the capability after the handoff was accepted, to one that it does not ask for.",
    remedy: "Send it again with a range that holds the version there is now.",
  },
  {
    codes: [400],
    reason: "no_weight",
    cause: "Every range of the route has the weight 0, so nothing could go to any.",
    remedy: "Give one a weight, or drop the route.",
  },
  {
    codes: [400],
    reason: "range_twice",
    cause: "The route names the same range of versions twice.",
    remedy: "Name it once, with the sum of the weights.",
  },
  {
    codes: [404],
    reason: "unknown_route",
    cause: "The work of this capability is not divided among versions.",
    remedy: "List the routes to see which there are.",
  },
  {
    codes: [507],
    reason: "too_many_routes",
    cause: "The relay keeps as many routes as it takes.",
    remedy: "Drop one that is not needed any more.",
  },
];
