/** How well an agent keeps what it claims, as the relay measured it. */

import { fields } from "@handfast/protocol";
import { type AgentReliability, agent_reliability } from "@handfast/protocol/wire";
import Type from "typebox";
import type { AgentView } from "../directory/agent.ts";
import { claimOf, windowOf } from "../directory/reliability/claim.ts";
import { unknownAgent } from "../directory/unknown-agent.ts";
import { json, operation } from "./operation.ts";
import type { Relay } from "./relay.ts";

export const reliability = operation(
  {
    name: "reliability",
    method: "GET",
    path: "/v1/agents/{name}/reliability",
    tag: "agents",
    access: "caller",
    summary: "What was measured of an agent, for each capability that it offers, beside what it claims.",
    params: Type.Object({ name: fields.name }),
    replies: { 200: agent_reliability },
    problems: [404],
  },
  async ({ relay, params }) => {
    const agent = relay.directory.agent(params.name);
    if (agent === undefined) throw unknownAgent(params.name);
    return json(show(relay, agent));
  },
);

function show({ engine, reliability }: Relay, { name, capabilities }: AgentView): AgentReliability {
  const now = engine.now();
  return {
    agent: name,
    capabilities: capabilities.map((capability) => {
      const claim = claimOf(capability);
      const { n, status, ...measured } = reliability.of(name, capability.name, now, claim, windowOf(capability));
      return { capability: capability.name, claim, status, measured: { attempts: n, ...measured } };
    }),
  };
}
