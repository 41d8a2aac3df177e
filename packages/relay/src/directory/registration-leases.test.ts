import type { Capability } from "@handfast/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { Schemas } from "../schemas/schemas.ts";
import { Directory } from "./directory.ts";
import { sampleHandoff } from "./testing/sample-handoff.ts";
import { StoreRecords } from "./testing/store-records.ts";

const hour_ms = 3_600_000;
const day_ms = 24 * hour_ms;
const research: Capability = { name: "research", input_schema: { query: "string" } };

let records: StoreRecords;
let now: number;
let asking: Set<string>;
let directory: Directory;

const open = () =>
  Directory.open({
    namespace: "default",
    records,
    schemas: new Schemas(),
    now: () => now,
    isAsking: (agent, worker) => asking.has(`${agent} ${worker}`),
  });

function add(
  name: string,
  offers: { readonly capabilities?: readonly Capability[]; readonly lease_seconds?: number } = {},
) {
  const { capabilities = [research], ...besides } = offers;
  return directory.change(name, (current) => ({
    agent: current ?? { name, identity: null, keys: [], description: null, registered_at: now, registration: null },
    offers: { ...besides, capabilities, signed: false },
    also: [],
  }));
}

const fit = (value: unknown, capability = "research") => {
  const content = { media_type: "application/json", bytes: Buffer.from(JSON.stringify(value)) };
  return directory.fit({ namespace: "default", to: null, capability }, content);
};

/** Whatever was on its way to the store is there. */
const settled = () =>
  directory.change("settled", () => ({
    agent: { name: "settled", identity: null, keys: [], description: null, registered_at: now, registration: null },
    offers: null,
    also: [],
  }));

beforeEach(async () => {
  records = await StoreRecords.open();
  now = 1_800_000_000_000;
  asking = new Set();
  directory = await open();
});

describe("a registration", () => {
  it("holds for a day without a sign of life, or as long as the agent says", async () => {
    await add("a");
    await add("b", { lease_seconds: 600 });
    expect(directory.leaseUntil("a")).toBe(now + day_ms);
    expect(directory.leaseUntil("b")).toBe(now + 600_000);
    now += 600_000;
    expect([directory.isLapsed("a"), directory.isLapsed("b")]).toEqual([false, true]);
    expect(directory.liveness("b")).toMatchObject({ state: "lapsed", lease_until: now });
  });

  it("is renewed by any sign of life", async () => {
    await add("a");
    now += day_ms - 1;
    directory.seen("a", null);
    expect(directory.leaseUntil("a")).toBe(now + day_ms);
    now += day_ms - 1;
    expect(fit({ query: "x" }).kind).toBe("fits");
  });

  it("that lapsed leaves nobody to hand work to, and the next sign of life brings it back at once", async () => {
    await add("a");
    now += day_ms;
    expect(fit({ query: "x" })).toEqual({ kind: "absent" });
    expect(directory.others(sampleHandoff({ capability: "research" }))).toBe(0);
    expect(directory.agent("a")).toMatchObject({ capabilities: [research] });
    directory.seen("a", "w1");
    expect(fit({ query: "x" })).toEqual({ kind: "fits", except: [] });
    expect(directory.others(sampleHandoff({ capability: "research" }))).toBe(1);
    expect(directory.liveness("a")).toEqual({
      state: "live",
      last_seen_at: now,
      lease_until: now + day_ms,
      workers: 1,
    });
  });

  it("that lapsed is back when the agent registers again", async () => {
    await add("a");
    now += day_ms;
    expect(fit({ query: "x" }).kind).toBe("absent");
    await add("a");
    expect(fit({ query: "x" }).kind).toBe("fits");
    expect(directory.isLapsed("a")).toBe(false);
  });

  it("that lapsed is not brought back by what others do with its keys and tokens", async () => {
    await add("a");
    now += day_ms;
    expect(fit({ query: "x" }).kind).toBe("absent");
    await directory.change("a", (current) => {
      if (current === undefined) throw new Error("It is there.");
      return { agent: current, offers: null, also: [] };
    });
    expect(fit({ query: "x" }).kind).toBe("absent");
    expect(directory.isLapsed("a")).toBe(true);
  });

  it("still takes work that is for the agent by name", async () => {
    await add("a");
    now += day_ms;
    const content = { media_type: "application/json", bytes: Buffer.from('{"query":"x"}') };
    const target = { namespace: "default", to: "a", capability: "research" };
    expect(directory.fit(target, content)).toEqual({ kind: "fits", except: [] });
  });

  it("does not lapse while a worker waits for work, however long", async () => {
    await add("a", { lease_seconds: 10 });
    directory.seen("a", "w1");
    asking.add("a w1");
    now += 10 * 60_000;
    expect(fit({ query: "x" }).kind).toBe("fits");
    expect(directory.liveness("a")).toMatchObject({ state: "live", workers: 1 });
    asking.clear();
    now += 10_000;
    expect(fit({ query: "x" }).kind).toBe("absent");
  });

  it("has what was accepted while it was out judged by its schema before it gets it", async () => {
    await add("a");
    const handoff = sampleHandoff({ capability: "research" });
    expect(directory.offer("a")(handoff).since).toBe(now + limits.manifest_settle_ms);
    now += day_ms;
    expect(fit({ query: "x" }).kind).toBe("absent");
    now += hour_ms;
    directory.seen("a", "w1");
    expect(directory.offer("a")(handoff).since).toBe(now + limits.manifest_settle_ms);
  });
});

describe("a registration across restarts", () => {
  it("is remembered by its last written sign of life, and by no more writes than a few per lease", async () => {
    await add("a");
    const puts = records.puts;
    for (let hour = 0; hour < 48; hour++) {
      now += hour_ms;
      for (let n = 0; n < 10; n++) directory.seen("a", "w1");
      await new Promise((done) => setImmediate(done));
    }
    await settled();
    const written = records.puts - puts - 1;
    expect(written).toBe(8);
    directory = await open();
    expect(directory.leaseUntil("a")).toBeGreaterThan(now + day_ms - 6 * hour_ms);
    expect(directory.liveness("a")).toMatchObject({ state: "idle", workers: 0, last_seen_at: expect.any(Number) });
  });

  it("lapses nobody before the relay has been up for five minutes, or for one short lease", async () => {
    await add("long");
    await add("short", { lease_seconds: 60, capabilities: [{ name: "quick" }] });
    now += 30 * day_ms;
    directory = await open();
    expect(fit({ query: "x" }).kind).toBe("fits");
    now += 60_000;
    expect(fit(1, "quick").kind).toBe("absent");
    now += 4 * 60_000;
    expect(fit({ query: "x" }).kind).toBe("absent");
  });

  it("that lapsed before stays lapsed, until the agent is heard of again", async () => {
    await add("gone", { lease_seconds: 10 });
    await add("there");
    now += 10_000;
    directory.seen("there", null);
    await settled();
    for (let restart = 0; restart < 2; restart++) {
      directory = await open();
      expect(directory.liveness("gone")).toMatchObject({ state: "lapsed", lease_until: now - 10_000 * restart });
      expect(fit({ query: "x" })).toEqual({ kind: "fits", except: [] });
      expect(directory.others(sampleHandoff({ capability: "research" }))).toBe(1);
      now += 10_000;
    }
    directory.seen("gone", "w1");
    await settled();
    expect(directory.others(sampleHandoff({ capability: "research" }))).toBe(2);
    directory = await open();
    expect(directory.isLapsed("gone")).toBe(false);
  });

  it("that ran out while nobody noticed is judged by when the relay was last up", async () => {
    await add("gone", { lease_seconds: 3_600 });
    await add("there");
    now += 7 * hour_ms;
    const stored = { seen_at: now, returned_at: 0 };
    await records.put([
      { namespace: "default", kind: "sign_of_life", key: "there", expected_version: 0, value: stored },
    ]);
    now += 30 * day_ms;
    directory = await open();
    expect([directory.isLapsed("gone"), directory.isLapsed("there")]).toEqual([true, false]);
  });

  it("has what was accepted in its absence judged, also when the relay was away meanwhile", async () => {
    await add("a");
    now += 2 * day_ms;
    expect(fit({ query: "x" }).kind).toBe("absent");
    directory = await open();
    const restarted = now;
    directory.seen("a", "w1");
    now += day_ms;
    expect(directory.offer("a")(sampleHandoff({ capability: "research" })).since).toBe(
      restarted + limits.manifest_settle_ms,
    );
    await settled();
    directory.seen("a", "w1");
    await settled();
    directory = await open();
    expect(directory.offer("a")(sampleHandoff({ capability: "research" })).since).toBe(
      restarted + limits.manifest_settle_ms,
    );
  });

  it("leaves nothing when the agent is forgotten", async () => {
    await add("a");
    now += day_ms - 1;
    directory.seen("a", "w1");
    await settled();
    expect((await records.load("sign_of_life")).map(({ key }) => key)).toEqual(["a"]);
    await directory.forget("a", () => []);
    expect(await records.load("sign_of_life")).toEqual([]);
    expect([directory.leaseUntil("a"), directory.isLapsed("a")]).toEqual([0, true]);
  });
});
