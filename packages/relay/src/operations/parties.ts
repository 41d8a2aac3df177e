/** Who may see a handoff: its sender, its addressee, whoever holds or held it, and operators. Nobody else learns of it. */

import { type Actor, any_capability, type Handoff } from "@handfast/core";
import { isId } from "@handfast/protocol";
import type { IsRival } from "../directory/directory.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { unknownHandoff } from "./refuse.ts";
import type { Relay } from "./relay.ts";

export function isParty(handoff: Handoff, name: string): boolean {
  const { accepted, holders } = handoff;
  return accepted.from === name || accepted.to === name || holders.some(({ agent }) => agent === name);
}

export function maySee(handoff: Handoff, caller: Caller): boolean {
  return caller.role === "operator" || isParty(handoff, caller.name);
}

/** The handoff now, if the caller may see it: at once, where the engine has it in memory. */
export function seen(relay: Relay, caller: Caller, id: string): Handoff | Promise<Handoff> {
  if (!isId(id)) throw unknownHandoff(id);
  const known = relay.engine.peek(caller.namespace, id);
  if (known !== undefined) return shownTo(caller, id, known);
  return relay.engine.get(caller.namespace, id).then((handoff) => shownTo(caller, id, handoff));
}

function shownTo(caller: Caller, id: string, handoff: Handoff | null): Handoff {
  if (handoff === null || !maySee(handoff, caller)) throw unknownHandoff(id);
  return handoff;
}

/** As it is at this moment: a caller may take a trade up at any time. */
export function rivalry({ directory }: Relay, { name, role }: Caller): IsRival {
  return (capability) =>
    capability === any_capability
      ? role !== "operator" && directory.offers(name).length > 0
      : directory.isRival({ name, role }, capability);
}

/** In whose name the caller sends and works: an operator's token is nobody's. */
export function agentOf(caller: Caller): string {
  if (caller.role === "agent" || caller.key !== null) return caller.name;
  throw new Problem(
    403,
    "not_an_agent",
    "An operator's token does not stand for an agent; make a token for an agent (POST /v1/tokens) and use that.",
  );
}

export function actorOf(caller: Caller): Actor {
  return caller.role === "operator" ? { kind: "operator", name: caller.name } : { kind: "agent", agent: caller.name };
}
