/** The `handfast` command: a shell script under `handfast serve`, and `handfast send`. */

import { node, programRow } from "../cast/program-row.ts";

export const row = programRow({
  name: "handfast-serve",
  title: "handfast serve (shell)",
  sender_gaps: {},
  worker_gaps: { question: "a program under `handfast serve` has no way to ask" },
  signs: true,
  quick: true,
  begins_within_ms: 3_000,
  slots: 10,
  note: "as a sender it is `handfast send`, a process for each step, three in `plain`: nearly all of their time is the start of the command",
  worker_program: "cli-worker.ts",
  sender_program: "cli-sender.ts",
  patience_ms: 90_000,
  prepare: async () => node({}),
});
