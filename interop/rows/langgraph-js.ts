/** LangGraph in JavaScript: graphs that hand off and sleep, and graphs that do the work. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { node, programRow } from "../cast/program-row.ts";

export const row = programRow({
  name: "langgraph-js",
  title: "LangGraph (JavaScript)",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: false,
  begins_within_ms: 3_000,
  slots: 10,
  worker_program: "langgraph-worker.ts",
  sender_program: "langgraph-sender.ts",
  patience_ms: 90_000,
  prepare: async () => node({ "@langchain/langgraph": versionOf("@langchain/langgraph") }),
});

function versionOf(name: string): string {
  const manifest = fileURLToPath(new URL(`../../node_modules/${name}/package.json`, import.meta.url));
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}
