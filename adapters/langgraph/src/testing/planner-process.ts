/**
 * The planner as a process of its own, for tests that kill it. HANDFAST_* say who it is; the store's file, a file for what
 * the nodes did, and where it is to be killed are its arguments. It prints a line for whatever a test waits for.
 */

import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { argv, kill, pid, stdout } from "node:process";
import { connect } from "@handfast/client";
import { resumeOutcomes } from "../mod.ts";
import { onThread, planner } from "./planner.ts";
import { sqliteSaver } from "./sqlite-saver.ts";

const [, , store = "", effects = "", task = "", killed_at = ""] = argv;

/** Here and now, and only the first time that anybody comes by. */
function die(place: string): void {
  const mark = `${effects}.${place}`;
  if (killed_at !== place || existsSync(mark)) return;
  writeFileSync(mark, "");
  kill(pid, "SIGKILL");
  // Until the signal arrives nothing else may happen.
  for (;;);
}

const client = await connect({ heartbeats: "here", onWarning: () => {} });
const hf = new Proxy(client, {
  get(target, name) {
    const member = Reflect.get(target, name, target);
    if (typeof member !== "function") return member;
    if (name !== "send") return member.bind(target);
    return async (...given: unknown[]) => {
      const handle = await member.apply(target, given);
      die("after_accept");
      return handle;
    };
  },
});
const saver = sqliteSaver(store);
const put = saver.put.bind(saver);
saver.put = async (...given: Parameters<typeof put>) => {
  const kept = await put(...given);
  if (JSON.stringify(given[1].channel_values).includes("research_outcome")) die("after_sent_is_kept");
  return kept;
};
const graph = planner({
  hf,
  saver,
  ran: (node) => {
    if (node === "write") die("while_resuming");
    appendFileSync(effects, `${node}\n`);
  },
});

if (task === "run") {
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  stdout.write("asleep\n");
}
if (task === "resume") {
  resumeOutcomes(hf, graph, { onWoken: ({ how }) => stdout.write(`${how}\n`) });
  stdout.write("resuming\n");
}
