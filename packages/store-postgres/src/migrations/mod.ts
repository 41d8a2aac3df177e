/** Every step of the schema, in order. A new step is a new file and a line here. */

import type { Migrations } from "../migrate.ts";
import { initial } from "./001-initial.ts";
import { outbox } from "./002-outbox.ts";
import { nodes } from "./003-nodes.ts";
import { recordChanges } from "./004-record-changes.ts";
import { sharedLife } from "./005-shared-life.ts";
import { nodeSigns } from "./006-node-signs.ts";
import { leaseRequests } from "./007-lease-requests.ts";
import { senderIndex } from "./008-sender-index.ts";
import { append } from "./009-append.ts";

export const migrations: Migrations = [
  { name: "initial", sql: initial, oldest_reader: 1 },
  { name: "outbox", sql: outbox, oldest_reader: 1 },
  { name: "nodes", sql: nodes, oldest_reader: 1 },
  { name: "record-changes", sql: recordChanges, oldest_reader: 1 },
  { name: "shared-life", sql: sharedLife, oldest_reader: 1 },
  { name: "node-signs", sql: nodeSigns, oldest_reader: 1 },
  { name: "lease-requests", sql: leaseRequests, oldest_reader: 1 },
  { name: "sender-index", sql: senderIndex, oldest_reader: 1 },
  { name: "append", sql: append, oldest_reader: 1 },
];
