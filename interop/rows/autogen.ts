/** AutoGen: teams of agentchat, their runs in files. */

import { programRow } from "../cast/program-row.ts";
import { python } from "../cast/python.ts";

export const row = programRow({
  name: "autogen",
  title: "AutoGen",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: false,
  begins_within_ms: 2_000,
  slots: 10,
  worker_program: "autogen_worker.py",
  sender_program: "autogen_sender.py",
  patience_ms: 90_000,
  prepare: (say) => python("agents", ["autogen-core", "autogen-agentchat"], say),
});
