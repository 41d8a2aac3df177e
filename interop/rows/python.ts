/** The Python SDK, without any framework. */

import { programRow } from "../cast/program-row.ts";
import { python } from "../cast/python.ts";

export const row = programRow({
  name: "python",
  title: "Python",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: true,
  begins_within_ms: 2_000,
  slots: 10,
  worker_program: "python_worker.py",
  sender_program: "python_sender.py",
  patience_ms: 60_000,
  prepare: (say) => python("plain", ["httpx"], say),
});
