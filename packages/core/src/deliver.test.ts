import { describe, expect, it } from "vitest";
import { coreLimits } from "./limits.ts";
import { Life } from "./testing/life.ts";
import { start } from "./testing/sample.ts";

describe("deliver", () => {
  it("offers a queued handoff to one worker under the next fence and acknowledges nothing", () => {
    const life = Life.of();
    const { events } = life.deliver();
    expect(life.handoff).toMatchObject({ fence: 1, attempts: 0, deliveries: 0 });
    expect(life.state).toBe("delivered");
    expect(life.lease).toMatchObject({ agent: "bob", worker: "bob-1", request_id: "claim-1", acknowledged_at: null });
    expect(events).toMatchObject([{ type: "delivered", code: 210, agent: "bob", worker: "bob-1", fence: 1 }]);
  });

  it("raises the fence with every delivery", () => {
    const life = Life.delivered();
    life.release();
    life.deliver();
    expect(life.lease.fence).toBe(2);
  });

  it("never gives out a second lease beside a live one", () => {
    const life = Life.delivered();
    expect(life.deliver({ agent: "carol" }).refusal).toMatchObject({ code: 412, reason: "not_ready" });
    expect(life.lease.agent).toBe("bob");
  });

  it("gives a handoff for one agent to no other", () => {
    const life = Life.of({ to: "bob" });
    expect(life.deliver({ agent: "carol" }).refusal).toMatchObject({ code: 403, reason: "not_for_agent" });
  });

  it("does not deliver before the backoff is over", () => {
    const life = Life.working();
    life.fail();
    expect(life.deliver().refusal).toMatchObject({ code: 412 });
    expect(life.wait(750).deliver().refusal).toBeNull();
  });

  it("does not deliver what expired meanwhile", () => {
    const life = Life.of().wait(900_000);
    expect(life.deliver().refusal).toMatchObject({ code: 412 });
    expect(life.state).toBe("expired");
  });

  it("takes the attempt's limit from the handoff, else the manifest, else the relay", () => {
    const limitOf = (attempt_ms: number | null, manifest_ms: number | null) => {
      const life = Life.of({ terms: { attempt_ms } });
      life.deliver({ attempt_ms: manifest_ms });
      return life.lease.attempt_left_ms;
    };
    expect(limitOf(1_000, 2_000)).toBe(1_000);
    expect(limitOf(null, 2_000)).toBe(2_000);
    expect(limitOf(null, null)).toBe(coreLimits.default_attempt_ms);
  });

  it("remembers only so many holders", () => {
    const life = Life.of();
    for (let n = 0; n < coreLimits.max_holders_kept + 3; n++) {
      life.deliver();
      life.release();
    }
    expect(life.handoff.holders).toHaveLength(coreLimits.max_holders_kept);
    expect(life.handoff.holders.at(-1)?.fence).toBe(coreLimits.max_holders_kept + 3);
  });
});

describe("exclude", () => {
  it("keeps a queued handoff from an agent whose manifest it does not fit any more", () => {
    const life = Life.of();
    expect(life.exclude("carol").events).toMatchObject([{ type: "excluded", agent: "carol" }]);
    expect(life.deliver({ agent: "carol" }).refusal).toMatchObject({ code: 403 });
    expect(life.deliver({ agent: "bob" }).refusal).toBeNull();
  });

  it("says nothing twice", () => {
    const life = Life.of();
    life.exclude("carol");
    expect(life.exclude("carol")).toMatchObject({ next: null, events: [] });
  });

  it("rejects the handoff when nobody is left", () => {
    const life = Life.of();
    life.exclude("carol", { others: 0 });
    expect(life.ended).toMatchObject({ state: "rejected", outcome: { code: 501, evidence: "relay" } });
  });

  it("never forgets an exclusion: too many of them end the handoff", () => {
    const life = Life.of();
    const limits = { ...coreLimits, max_excluded: 2 };
    life.exclude("carol", { limits });
    expect(life.state).toBe("queued");
    life.exclude("dave", { limits });
    expect(life.handoff.excluded).toEqual(["carol", "dave"]);
    expect(life.state).toBe("rejected");
  });
});

describe("unblock", () => {
  it("makes the head of a lane ready and starts its queue clock only then", () => {
    const life = Life.of({ ordering_key: "k", terms: { queue_ms: 5_000 } }, { lane_busy: true }).wait(60_000);
    life.do({ type: "unblock" });
    const now = start + 60_000;
    expect(life.handoff.status).toEqual({ state: "queued", ready_at: now, queue_until: now + 5_000, blocked: false });
    expect(life.deliver().refusal).toBeNull();
  });

  it("changes nothing where nothing was blocked", () => {
    expect(Life.of().do({ type: "unblock" })).toMatchObject({ next: null, events: [] });
    expect(Life.working().do({ type: "unblock" })).toMatchObject({ next: null, events: [] });
  });
});
