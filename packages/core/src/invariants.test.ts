/** What must hold in every world, whatever happens in it and in whatever order. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wakeAt } from "./clocks.ts";
import { findable } from "./findable.ts";
import { type Handoff, hasEnded, laneOf, liveLease } from "./handoff.ts";
import { context } from "./testing/sample.ts";
import { finish, steps, take } from "./testing/steps.ts";
import { type Transition, World } from "./testing/world.ts";

type Watch = (transition: Transition, world: World) => void;

/** Leads many random worlds through their steps; `watch` sees every decision, `check` the world after each step. */
function always({
  watch = () => {},
  check = () => {},
  end = () => {},
}: {
  readonly watch?: Watch;
  readonly check?: (world: World) => void;
  readonly end?: (world: World) => void;
}): void {
  fc.assert(
    fc.property(steps, (script) => {
      const world = new World(watch);
      for (const step of script) {
        take(world, step);
        check(world);
      }
      finish(world);
      check(world);
      end(world);
    }),
    { numRuns: 400 },
  );
}

const terminal = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

function isAfterTick(transition: Transition): transition is Transition & { after: Handoff } {
  return transition.command.type === "tick" && transition.after !== null && !transition.decision.purge;
}

/** Everything but what a late outcome may add. */
function withoutLateness(handoff: Handoff | null): unknown {
  if (handoff === null) return null;
  const { late: _late, spent: _spent, charged_by: _by, seq: _seq, version: _version, ...rest } = handoff;
  return rest;
}

describe("always", () => {
  it("a handoff that has ended keeps its state, its time and its outcome", () => {
    always({
      watch: ({ before, after }) => {
        if (before === null || !hasEnded(before.status)) return;
        const { state, ended_at, outcome } = before.status;
        expect(after?.status).toMatchObject({ state, ended_at, outcome });
      },
    });
  });

  it("every handoff ends, with exactly one event that says so", () => {
    always({
      end: (world) => {
        const ends = new Map<string, number>();
        for (const { handoff, type } of world.log) {
          if (terminal.has(type)) ends.set(handoff, (ends.get(handoff) ?? 0) + 1);
        }
        for (const { id } of world.drafts) expect(ends.get(id)).toBe(1);
        for (const { status } of world.all) expect(hasEnded(status)).toBe(true);
      },
    });
  });

  it("after the end nothing is told but lateness and what is done with the outcome", () => {
    const afterwards = new Set(["late", "taken", "redriven", "discarded", "routed", "purged"]);
    always({
      end: (world) => {
        const over = new Set<string>();
        for (const { handoff, type } of world.log) {
          if (over.has(handoff)) expect(afterwards).toContain(type);
          if (terminal.has(type)) over.add(handoff);
        }
      },
    });
  });

  it("a tick at the deadline ends a handoff", () => {
    always({
      watch: (transition) => {
        if (!isAfterTick(transition)) return;
        const { after, now } = transition;
        if (now >= after.accepted.deadline_at) expect(hasEnded(after.status)).toBe(true);
      },
    });
  });

  it("no handoff is still open when a command reaches it after its deadline", () => {
    always({
      watch: ({ command, after, now }) => {
        if (after === null || command.type === "submit") return;
        expect(hasEnded(after.status) || now < after.accepted.deadline_at).toBe(true);
      },
    });
  });

  it("a fence only grows, by one, with a delivery", () => {
    always({
      watch: ({ before, after, command, decision }) => {
        if (before === null || after === null) return;
        const delivered = command.type === "deliver" && decision.refusal === null;
        expect(after.fence - before.fence).toBe(delivered ? 1 : 0);
      },
    });
  });

  it("at most one lease lives, under the newest fence", () => {
    always({
      watch: ({ settled, after, command, decision }) => {
        if (after === null) return;
        const lease = liveLease(after);
        if (lease !== null) expect(lease.fence).toBe(after.fence);
        if (command.type === "deliver" && decision.refusal === null && settled !== null) {
          expect(liveLease(settled)).toBeNull();
        }
      },
    });
  });

  it("a stale fence changes nothing but late outcomes", () => {
    always({
      watch: ({ settled, after, command, decision }) => {
        if (settled === null || !("fence" in command)) return;
        const lease = liveLease(settled);
        if (lease?.fence === command.fence && lease.agent === command.agent) return;
        expect(withoutLateness(after)).toEqual(withoutLateness(settled));
        const late = (after?.late.length ?? 0) - settled.late.length;
        const outcome = command.type === "complete" || command.type === "fail" || command.type === "reject";
        expect(late).toBeLessThanOrEqual(outcome && decision.refusal !== null ? 1 : 0);
      },
    });
  });

  it("at most one late outcome is kept per fence, from the agent that held it", () => {
    always({
      watch: ({ after }) => {
        if (after === null) return;
        const fences = after.late.map(({ outcome }) => outcome.fence);
        expect(new Set(fences).size).toBe(fences.length);
        for (const { outcome } of after.late) {
          expect(after.holders.find(({ fence }) => fence === outcome.fence)?.agent).toBe(outcome.agent);
        }
      },
    });
  });

  it("an outcome that was carried out is answered again without a change", () => {
    always({
      check: (world) => {
        for (const { id, command } of world.said) {
          const before = world.handoffs.get(id);
          if (before === undefined || command.type === "submit") continue;
          const { refusal, keep } = world.run(id, command);
          expect(refusal).toBeNull();
          expect(keep).toBeNull();
        }
      },
      watch: ({ settled, after, command, decision }, world) => {
        if (world.said.some((said) => said.command === command)) {
          expect(decision.follow.filter(({ kind }) => kind === "command").length).toBe(0);
          expect(after?.status).toEqual(settled?.status);
        }
      },
    });
  });

  it("attempts and unacknowledged deliveries stay within their limits", () => {
    always({
      watch: ({ after }) => {
        if (after === null) return;
        const { max_attempts, max_deliveries } = after.accepted.terms;
        expect(after.attempts).toBeGreaterThanOrEqual(0);
        expect(after.attempts).toBeLessThanOrEqual(max_attempts);
        expect(after.deliveries).toBeLessThanOrEqual(max_deliveries);
      },
    });
  });

  it("nothing runs a second time after a lost or failed attempt that must not be repeated", () => {
    always({
      watch: ({ before, decision }) => {
        const lease = before === null ? null : liveLease(before);
        if (lease === null || !lease.until_ack || lease.acknowledged_at === null) return;
        for (const event of decision.events) {
          if (event.type === "requeued") expect(["released", "rejected", "answered"]).toContain(event.why);
        }
      },
    });
  });

  it("an honest retry of a submit never conflicts and changes nothing", () => {
    always({
      check: (world) => {
        for (const draft of world.drafts) {
          const again = { ...draft, id: `${draft.id}x`, digest: "other", input: { ...draft.input, salt: "other" } };
          expect(world.submit(again)).toMatchObject({ refusal: null, next: null, follow: [] });
        }
      },
    });
  });

  it("other content under a used key always conflicts", () => {
    always({
      check: (world) => {
        for (const draft of world.drafts) {
          expect(world.submit({ ...draft, content: "other" }).refusal?.code).toBe(409);
        }
      },
    });
  });

  it("a child lives within its parent: correlation, hops, deadline", () => {
    always({
      watch: ({ command, after, decision }, world) => {
        if (command.type !== "submit" || decision.next === null || after === null) return;
        const { causation, hops, correlation_id, deadline_at, from } = after.accepted;
        if (causation === null) return expect(hops).toBe(0);
        const parent = world.handoffs.get(causation.id);
        expect(parent?.accepted.correlation_id).toBe(correlation_id);
        expect(parent?.accepted.hops).toBe(hops - 1);
        expect(deadline_at).toBeLessThanOrEqual(parent?.accepted.deadline_at ?? 0);
        expect(parent === undefined ? null : liveLease(parent)).toMatchObject({ agent: from, fence: causation.fence });
      },
    });
  });

  it("children of what has ended are canceled, unless detached", () => {
    always({
      check: (world) => {
        world.sweep();
        for (const { accepted, status } of world.all) {
          if (hasEnded(status)) expect(world.openChildren(accepted.id)).toEqual([]);
        }
      },
    });
  });

  it("detached children are never canceled by the end of a parent", () => {
    always({
      watch: ({ command, before }) => {
        if (command.type === "cancel" && command.actor.kind === "relay") expect(before?.accepted.detached).toBe(false);
      },
    });
  });

  it("no lane ever has two open heads, and the head is the first accepted", () => {
    always({
      check: (world) => {
        const lanes = new Set(world.all.map(({ accepted }) => laneOf(accepted)).filter((lane) => lane !== null));
        for (const lane of lanes) {
          const free = world.lane(lane).map(({ status }) => status.state !== "queued" || !status.blocked);
          expect(free).toEqual(free.map((_, index) => index === 0));
        }
      },
    });
  });

  it("a lane is delivered in accept order", () => {
    always({
      end: (world) => {
        const order = new Map(world.drafts.map(({ id }, index) => [id, index]));
        const last = new Map<string, number>();
        for (const event of world.log) {
          const lane = laneOf(handoffOf(world, event.handoff).accepted);
          if (event.type !== "delivered" || lane === null) continue;
          const index = order.get(event.handoff) ?? -1;
          expect(index).toBeGreaterThanOrEqual(last.get(lane) ?? 0);
          last.set(lane, index);
        }
      },
    });
  });

  it("every event carries its handoff's correlation, causation and parties", () => {
    always({
      watch: ({ after, decision }) => {
        for (const event of decision.events) {
          expect(event).toMatchObject({
            handoff: after?.accepted.id,
            correlation_id: after?.accepted.correlation_id,
            causation_id: after?.accepted.causation?.id ?? null,
            from: after?.accepted.from,
          });
        }
      },
    });
  });

  it("seq is dense from one", () => {
    always({
      end: (world) => {
        const last = new Map<string, number>();
        for (const { handoff, seq } of world.log) {
          expect(seq).toBe((last.get(handoff) ?? 0) + 1);
          last.set(handoff, seq);
        }
      },
    });
  });

  it("every durable change raises the version by one, and only a beat is not durable", () => {
    always({
      watch: ({ before, command, decision }) => {
        const { next, durable, events } = decision;
        if (next === null) return expect({ durable, events }).toEqual({ durable: false, events: [] });
        expect(next.version - (before?.version ?? 0)).toBe(durable ? 1 : 0);
        if (!durable) expect({ type: command.type, events }).toEqual({ type: "beat", events: [] });
      },
    });
  });

  it("after a tick the next time to wake lies ahead, unless a chore is left: no timer spins", () => {
    always({
      watch: (transition, world) => {
        if (!isAfterTick(transition)) return;
        const { after, now } = transition;
        const chores = hasEnded(after.status) && (after.status.chores.children || after.status.chores.route);
        const wake = wakeAt(after, context({ resumed_at: world.resumed_at }), now);
        if (!chores) expect(wake).toBeGreaterThan(now);
      },
    });
  });

  it("nothing open is without a time to wake, none of them after the deadline", () => {
    always({
      watch: ({ after, now }, world) => {
        if (after === null || hasEnded(after.status)) return;
        const { wake_at } = findable(after, context({ resumed_at: world.resumed_at }), now);
        expect(wake_at).toBeLessThanOrEqual(after.accepted.deadline_at);
      },
    });
  });

  it("no budget for handoffs is ever exceeded by what was accepted below it", () => {
    always({
      check: (world) => {
        for (const { accepted, spent } of world.all) {
          if (accepted.budget === null) continue;
          const below = world.all.filter((handoff) => handoff.accepted.budget_holders.includes(accepted.id));
          expect(spent.handoffs).toBe(below.length);
          if (accepted.budget.handoffs !== null) expect(below.length).toBeLessThanOrEqual(accepted.budget.handoffs);
        }
      },
    });
  });

  it("what was used, once each, is spent by the handoff and by every budget above it", () => {
    const used = new WeakMap<World, Map<string, number>>();
    always({
      watch: ({ command, decision, after }, world) => {
        if (!("usage" in command) || command.type === "charge" || decision.keep === null || after === null) return;
        const ledger = used.get(world) ?? new Map<string, number>();
        used.set(world, ledger);
        ledger.set(after.accepted.id, (ledger.get(after.accepted.id) ?? 0) + (command.usage?.cost ?? 0));
      },
      check: (world) => {
        const costOf = ({ accepted }: Handoff) => used.get(world)?.get(accepted.id) ?? 0;
        for (const handoff of world.all) {
          const below = world.all.filter(({ accepted }) => accepted.budget_holders.includes(handoff.accepted.id));
          expect(handoff.spent.cost).toBe([handoff, ...below].reduce((sum, each) => sum + costOf(each), 0));
        }
      },
    });
  });

  it("an excluded agent never gets a handoff again", () => {
    always({
      watch: ({ before, command, decision }) => {
        if (command.type !== "deliver" || decision.refusal !== null) return;
        expect(before?.excluded).not.toContain(command.agent);
      },
    });
  });

  it("a notice never waits, and an ack that is taken ends it", () => {
    always({
      watch: ({ after, command, decision }) => {
        if (after?.accepted.kind !== "notice") return;
        expect(after.status.state).not.toBe("waiting");
        if (command.type === "ack" && decision.refusal === null) expect(hasEnded(after.status)).toBe(true);
      },
    });
  });

  it("a resumed relay takes no lease away within one full lease period", () => {
    always({
      watch: ({ before, settled, now }, world) => {
        if (before === null || settled === null) return;
        const lease = liveLease(before);
        if (lease === null || lease.delivered_at >= world.resumed_at || hasEnded(settled.status)) return;
        if (now < world.resumed_at + before.accepted.terms.lease_ms) {
          expect(liveLease(settled)?.fence).toBe(lease.fence);
        }
      },
    });
  });
});

function handoffOf(world: World, id: string): Handoff {
  const handoff = world.handoffs.get(id);
  if (handoff === undefined) throw new Error(`no handoff ${id}`);
  return handoff;
}
