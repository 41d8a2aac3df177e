/** The TypeScript client, without any framework. */

import { node, programRow } from "../cast/program-row.ts";

export const row = programRow({
  name: "typescript",
  title: "TypeScript",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: true,
  begins_within_ms: 2_000,
  slots: 10,
  worker_program: "typescript-worker.ts",
  sender_program: "typescript-sender.ts",
  patience_ms: 60_000,
  prepare: async () => node({}),
});
