/** Every step of the schema, in order. A new step is a new file and a line here. */

import type { Migrations } from "../migrate.ts";
import { initial } from "./001-initial.ts";
import { fewerWrites } from "./002-fewer-writes.ts";
import { routing } from "./003-routing.ts";

export const migrations: Migrations = [initial, fewerWrites, routing];
/** What the steps are called, in the same order. */
export const migrationNames: readonly string[] = ["initial", "fewer-writes", "routing"];
