import { expect, it } from "vitest";
import { StoreRecords } from "../directory/testing/store-records.ts";
import { Routes } from "./routes.ts";

async function routesWith(weights: Readonly<Record<string, number>>): Promise<Routes> {
  const routes = await Routes.open({ namespace: "default", records: await StoreRecords.open(), now: () => 1_000 });
  const list = Object.entries(weights).map(([version, weight]) => ({ version, weight }));
  await routes.set("research", { weights: list }, "operator");
  return routes;
}

const ids = Array.from({ length: 10_000 }, (_, n) => `019a8b5e-1c00-7000-8000-${n.toString(16).padStart(12, "0")}`);

it("puts the same id under the same range, every time", async () => {
  const [one, other] = [await routesWith({ "1.x": 1, "2.x": 1 }), await routesWith({ "1.x": 1, "2.x": 1 })];
  for (const id of ids.slice(0, 100)) expect(one.rangeFor("research", id)).toBe(other.rangeFor("research", id));
});

it("divides ids that only count up as its weights say", async () => {
  const routes = await routesWith({ "1.x": 90, "2.x": 10, never: 0 });
  const drawn = Map.groupBy(ids, (id) => routes.rangeFor("research", id));
  expect([...drawn.keys()].toSorted()).toEqual(["1.x", "2.x"]);
  // A standard deviation is 30.
  expect(Math.abs((drawn.get("2.x")?.length ?? 0) - 1_000)).toBeLessThan(150);
});

it("puts work for other capabilities under no range", async () => {
  expect((await routesWith({ "1.x": 1 })).rangeFor("other", ids[0] ?? "")).toBeNull();
});
