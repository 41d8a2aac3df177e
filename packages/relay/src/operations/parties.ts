/** Who may see a handoff: its sender, its addressee, whoever holds or held it, and operators. Nobody else learns of it. How much: sight.ts. */

import { type Actor, any_capability, type Handoff, type Time } from "@handfast/core";
import { isId } from "@handfast/protocol";
import type { IsRival } from "../directory/directory.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { unknownHandoff } from "./refuse.ts";
import type { Relay } from "./relay.ts";
import { type Sight, sightOf } from "./sight.ts";

/** The handoff now, as the caller may see it: at once, where the engine has it in memory. */
export function seen(relay: Relay, caller: Caller, id: string): Handoff | Promise<Handoff> {
  const sight = seenAs(relay, caller, id);
  return sight instanceof Promise ? sight.then(({ handoff }) => handoff) : sight.handoff;
}

/** The same, with what the caller is to it. */
export function seenAs(
  relay: Relay,
  caller: Caller,
  id: string,
  asked_at = relay.engine.now(),
): Sight | Promise<Sight> {
  return looked(relay, caller, id, asked_at, (handoff) => sightOf(handoff, caller));
}

/** The whole record, to act on: whoever held a fence may say something about it, however little it is shown. */
export function actedOn(relay: Relay, caller: Caller, id: string): Handoff | Promise<Handoff> {
  return looked(relay, caller, id, relay.engine.now(), (handoff) => (mayAct(handoff, caller) ? handoff : null));
}

/** Refuses whoever may not see it. Nobody who ever saw something of it is shut out later, so what is remembered is enough. */
export async function mustSee(relay: Relay, caller: Caller, id: string): Promise<void> {
  const known = relay.engine.remembered(caller.namespace, id);
  if (known === undefined || sightOf(known, caller) === null) await seen(relay, caller, id);
}

function mayAct(handoff: Handoff, caller: Caller): boolean {
  return handoff.holders.some(({ agent }) => agent === caller.name) || sightOf(handoff, caller) !== null;
}

function looked<T>(
  relay: Relay,
  caller: Caller,
  id: string,
  asked_at: Time,
  look: (handoff: Handoff) => T | null,
): T | Promise<T> {
  if (!isId(id)) throw unknownHandoff(id);
  const there = (handoff: Handoff | null): T => {
    const found = handoff === null ? null : look(handoff);
    if (found === null) throw unknownHandoff(id);
    return found;
  };
  const known = relay.engine.peek(caller.namespace, id, asked_at);
  return known === undefined ? relay.engine.get(caller.namespace, id).then(there) : there(known);
}

/** Of these, those that the caller may see, as it may see them. */
export function shownOf(handoffs: readonly Handoff[], caller: Caller): readonly Handoff[] {
  return handoffs.flatMap((handoff) => sightOf(handoff, caller)?.handoff ?? []);
}

/** As it is at this moment: a caller may take a trade up at any time. */
export function rivalry({ directory }: Relay, { name, role }: Caller): IsRival {
  return (capability) => directory.isRival({ name, role }, capability === any_capability ? null : capability);
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
