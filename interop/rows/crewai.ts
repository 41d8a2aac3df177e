/** CrewAI: its flows in SQLite as senders, a crew as the worker. */

import { programRow } from "../cast/program-row.ts";
import { python } from "../cast/python.ts";

/** It reports and asks its makers for news unless told not to, and keeps its things in the home folder. */
const silent = {
  CREWAI_DISABLE_TELEMETRY: "true",
  CREWAI_DISABLE_TRACKING: "true",
  CREWAI_DISABLE_VERSION_CHECK: "true",
  CREWAI_TRACING_ENABLED: "false",
  OTEL_SDK_DISABLED: "true",
};

export const row = programRow({
  name: "crewai",
  title: "CrewAI",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: false,
  begins_within_ms: 4_000,
  slots: 10,
  worker_program: "crewai_worker.py",
  sender_program: "crewai_sender.py",
  patience_ms: 120_000,
  prepare: async (say) => {
    const interpreter = await python("crewai", ["crewai"], say);
    return { ...interpreter, environment: { ...interpreter.environment, ...silent } };
  },
});
