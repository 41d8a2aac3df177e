/** What every act of a lease's holder has in common: which handoff, under which fence, by which worker, on which terms. */

import { type Handoff, liveLease } from "@handfast/core";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { actedOn, agentOf } from "./parties.ts";
import { refused } from "./refuse.ts";
import type { Relay } from "./relay.ts";

export interface Holding {
  readonly handoff: Handoff;
  readonly agent: string;
  readonly fence: number;
  readonly worker: string;
  readonly manifest: string | null;
}

/** Whether the lease still lives is core's to say; here only what it was is looked up. */
export async function holdingOf(
  relay: Relay,
  caller: Caller,
  id: string,
  said: { readonly fence: number; readonly worker?: string },
  sign: "holds" | "ends" = "holds",
): Promise<Holding> {
  const agent = agentOf(caller);
  const handoff = leasedTo(relay, caller, id, said.fence) ?? (await actedOn(relay, caller, id));
  const lease = liveLease(handoff);
  const live = lease?.fence === said.fence ? lease : null;
  const held = handoff.holders.find(({ fence }) => fence === said.fence);
  const worker = said.worker ?? live?.worker ?? held?.worker ?? agent;
  if (live !== null && live.agent === agent && live.worker !== worker) {
    throw new Problem(
      403,
      "foreign_worker",
      `Fence ${said.fence} of handoff ${id} is held by worker ${live.worker}, not ${worker}.`,
      { fields: ["/worker"] },
    );
  }
  relay.directory.seen(agent, worker, sign);
  return { handoff, agent, fence: said.fence, worker, manifest: live?.manifest ?? null };
}

/** What a lease is made of does not change while it lives, so where this one is remembered as live nothing is read for it. */
function leasedTo({ engine }: Relay, { namespace, name }: Caller, id: string, fence: number): Handoff | null {
  const known = engine.remembered(namespace, id);
  const lease = known === undefined ? null : liveLease(known);
  return known !== undefined && lease?.fence === fence && lease.agent === name ? known : null;
}

/** A signed document is about this handoff, these bytes and this lease, or it is about something else. */
export function checkBinding(
  holding: Holding,
  document: {
    readonly id: string;
    readonly handoff: string;
    readonly fence: number;
    readonly worker: string;
    readonly manifest: string | null;
  },
): void {
  const { accepted } = holding.handoff;
  const live = liveLease(holding.handoff)?.fence === holding.fence;
  const wrong = [
    ...(document.id === accepted.id ? [] : ["id"]),
    ...(document.handoff === accepted.digest ? [] : ["handoff"]),
    ...(live && document.manifest !== holding.manifest ? ["manifest"] : []),
  ];
  if (wrong.length > 0) throw bindsAnother(wrong);
}

export function bindsAnother(wrong: readonly string[]): Problem {
  const fields = wrong.map((name) => `/signed/document/${name}`);
  const detail = `The document does not bind this handoff: ${wrong.join(", ")} ${wrong.length === 1 ? "differs" : "differ"}.`;
  return new Problem(400, "binds_another", detail, { fields });
}

export interface Performed {
  readonly handoff: Handoff | null;
  readonly refusal: Parameters<typeof refused>[0] | null;
}

/** The handoff after the act, or the problem that it met. */
export function accomplished({ handoff, refusal }: Performed): Handoff {
  if (refusal !== null) throw refused(refusal, handoff === null ? {} : { state: handoff.status.state });
  if (handoff === null) throw new Error("the engine carried out an act on nothing");
  return handoff;
}
