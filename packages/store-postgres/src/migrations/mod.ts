/** Every step of the schema, in order. A new step is a new file and a line here. */

import type { Migrations } from "../migrate.ts";
import { initial } from "./001-initial.ts";
import { nodes } from "./003-nodes.ts";
import { recordChanges } from "./004-record-changes.ts";

export const migrations: Migrations = [
  { name: "initial", sql: initial, oldest_reader: 1 },
  { name: "nodes", sql: nodes, oldest_reader: 1 },
  { name: "record-changes", sql: recordChanges, oldest_reader: 1 },
];
