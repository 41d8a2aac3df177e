/** Microsoft Agent Framework, AutoGen's successor: workflows, their checkpoints in files. */

import { programRow } from "../cast/program-row.ts";
import { python } from "../cast/python.ts";

export const row = programRow({
  name: "agent-framework",
  title: "Microsoft Agent Framework",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: false,
  begins_within_ms: 2_000,
  slots: 10,
  worker_program: "agent_framework_worker.py",
  sender_program: "agent_framework_sender.py",
  patience_ms: 90_000,
  prepare: (say) => python("agents", ["agent-framework-core"], say),
});
