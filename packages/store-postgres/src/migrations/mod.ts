/** Every step of the schema, in order. A new step is a new file and a line here. */

import type { Migrations } from "../migrate.ts";
import { initial } from "./001-initial.ts";

export const migrations: Migrations = [{ name: "initial", sql: initial, oldest_reader: 1 }];
