/** How the work of a capability is divided among its versions: set by operators, kept as records, drawn by the handoff's id. */

import type { Time } from "@handfast/core";
import { toUtf8 } from "@handfast/protocol";
import type { RouteBody, RouteView } from "@handfast/protocol/wire";
import { commitChanges, RecordTable } from "../directory/record-table.ts";
import type { Records } from "../directory/records.ts";
import { Turns } from "../directory/turns.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";

interface RoutesOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly now: () => Time;
}

export class Routes {
  private readonly options: RoutesOptions;
  /** By capability. */
  private readonly rows: RecordTable<RouteView>;
  readonly turns: Turns;

  private constructor(options: RoutesOptions) {
    this.options = options;
    this.turns = new Turns(options.records.others);
    this.rows = new RecordTable(options.namespace, "route");
  }

  static async open(options: RoutesOptions): Promise<Routes> {
    const routes = new Routes(options);
    await routes.load();
    return routes;
  }

  /** Reads everything from the store; again, after a commit of which nobody knows what is on disk. */
  async load(): Promise<void> {
    await this.rows.load(this.options.records);
  }

  all(): readonly RouteView[] {
    return [...this.rows.values()].sort((a, b) => (a.capability < b.capability ? -1 : 1));
  }

  set(capability: string, { weights }: RouteBody, set_by: string): Promise<RouteView> {
    checkWeights(weights);
    return this.turns.take(async () => {
      if (this.rows.get(capability) === undefined && this.rows.size >= limits.routes) throw tooMany();
      const route: RouteView = { capability, weights, set_at: this.options.now(), set_by };
      await commitChanges(this.options.records, [this.rows.set(capability, route)]);
      return route;
    });
  }

  drop(capability: string): Promise<void> {
    return this.turns.take(async () => {
      if (this.rows.get(capability) === undefined) throw unknownRoute(capability);
      await commitChanges(this.options.records, [this.rows.delete(capability)]);
    });
  }

  /** The range that this handoff is put under; null: there is no route. By the id alone, so that a retry is put alike. */
  rangeFor(capability: string, id: string): string | null {
    const route = this.rows.get(capability);
    if (route === undefined) return null;
    const total = route.weights.reduce((sum, { weight }) => sum + weight, 0);
    let left = shareOf(id) * total;
    for (const { version, weight } of route.weights) {
      if (left < weight) return version;
      left -= weight;
    }
    return null;
  }
}

/** In [0, 1), spread evenly whatever ids are made of. */
function shareOf(id: string): number {
  return Number.parseInt(nodeCrypto.sha256Hex(toUtf8(id)).slice(0, 12), 16) / 2 ** 48;
}

function checkWeights(weights: RouteBody["weights"]): void {
  if (weights.every(({ weight }) => weight === 0)) {
    throw new Problem(400, "no_weight", "All weights are 0: give at least one range a weight, or drop the route.", {
      fields: ["/weights"],
    });
  }
  const twice = weights.findIndex(({ version }, index) =>
    weights.some((one, at) => at < index && one.version === version),
  );
  if (twice < 0) return;
  const detail = `The range ${JSON.stringify(weights[twice]?.version)} is there twice: add the two weights up.`;
  throw new Problem(400, "range_twice", detail, { fields: [`/weights/${twice}/version`] });
}

function tooMany(): Problem {
  const detail = `There are ${limits.routes} routes, which is all that are kept. Drop one first.`;
  return new Problem(507, "too_many_routes", detail);
}

function unknownRoute(capability: string): Problem {
  const detail = `There is no route for ${JSON.stringify(capability)}: its work goes to any version. List the routes to see which there are.`;
  return new Problem(404, "unknown_route", detail);
}
