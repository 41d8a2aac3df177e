/** The process that runs the graph is killed at the worst moments, and another one goes on. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { connect } from "@handfast/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import { onThread, planner } from "./testing/planner.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";

const program = join(import.meta.dirname, "testing/planner-process.ts");
let stage: Stage;
let folder: string;
let finish: () => void;

beforeAll(async () => {
  stage = await Stage.open();
  folder = mkdtempSync(join(tmpdir(), "handfast-langgraph-"));
  const worker = await stage.agent("researcher");
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  finish = resolve;
  await worker.serve({ research: () => finished.then(() => "found") }, { signals: false, grace: 0 });
});
afterAll(async () => {
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
});

class Planner {
  readonly #place: string;
  readonly #env: Record<string, string>;

  constructor(place: string) {
    this.#place = place;
    this.#env = {
      HANDFAST_URL: stage.relay.url,
      HANDFAST_AGENT: `planner-${place.replaceAll("_", "-")}`,
      HANDFAST_HOME: folder,
      PATH: env["PATH"] ?? "",
    };
  }

  start(task: "run" | "resume"): ChildProcess {
    const words = [program, this.store, this.#effects, task, this.#place];
    return spawn(execPath, words, { env: this.#env, stdio: ["ignore", "pipe", "inherit"] });
  }

  get store(): string {
    return join(folder, `${this.#place}.db`);
  }

  get #effects(): string {
    return join(folder, `${this.#place}.effects`);
  }

  /** Which nodes did their work, in order. */
  get effects(): readonly string[] {
    return readFileSync(this.#effects, "utf8").split("\n").filter(Boolean);
  }

  client() {
    const { HANDFAST_URL: url = "", HANDFAST_AGENT: agent = "", HANDFAST_HOME: home = "" } = this.#env;
    return connect({ url, agent, home, heartbeats: "here", onWarning: () => {} });
  }
}

async function isKilled(child: ChildProcess): Promise<boolean> {
  if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
  return child.signalCode === "SIGKILL";
}

/** Its line, once it has printed it. */
async function says(child: ChildProcess, words: readonly string[]): Promise<string> {
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return until(() => words.find((word) => said.split("\n").includes(word)));
}

test.concurrent.each([
  { place: "after_accept", task: "run", how: "continued" },
  { place: "after_sent_is_kept", task: "run", how: "continued" },
  { place: "while_resuming", task: "resume", how: "continued" },
] as const)(
  "killed $place, it goes on in another process, and every node did its work once",
  async ({ place, task, how }) => {
    const killed = new Planner(place);
    const first = killed.start("run");
    if (task === "run") expect(await isKilled(first)).toBe(true);
    else expect([await says(first, ["asleep"]), await once(first, "exit")]).toEqual(["asleep", [0, null]]);
    finish();
    if (task === "resume") expect(await isKilled(killed.start("resume"))).toBe(true);

    const last = killed.start("resume");
    try {
      expect(await says(last, ["resumed", "continued", "not_waiting"])).toBe(how);
    } finally {
      last.kill("SIGKILL");
    }
    expect(killed.effects).toEqual(["plan", "note", "write"]);
    const hf = await killed.client();
    const sent = await sentBy(hf);
    expect(sent.map(({ state, taken_at }) => [state, taken_at !== null])).toEqual([["completed", true]]);
    const { values } = await planner({ hf, saver: sqliteSaver(killed.store) }).getState(onThread("t"));
    expect(values).toMatchObject({ text: '"found"' });
    await hf.close();
  },
);
