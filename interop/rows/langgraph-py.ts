/** LangGraph in Python, its threads in SQLite. */

import { programRow } from "../cast/program-row.ts";
import { python } from "../cast/python.ts";

export const row = programRow({
  name: "langgraph-py",
  title: "LangGraph (Python)",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: false,
  begins_within_ms: 2_000,
  slots: 10,
  worker_program: "langgraph_worker.py",
  sender_program: "langgraph_sender.py",
  patience_ms: 90_000,
  prepare: (say) => python("agents", ["langgraph", "langgraph-checkpoint-sqlite"], say),
});
