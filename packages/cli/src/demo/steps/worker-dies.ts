/** The worker is killed in mid-task; another of its agent goes on from the last checkpoint. */

import { kill } from "../stage.ts";
import { must, type Step, seen, showEvents } from "../step.ts";

interface Report {
  readonly parts: readonly { readonly title: string; readonly by: string }[];
}

export const workerDies: Step = {
  name: "worker-killed",
  title: "The worker is killed with SIGKILL; another goes on from its checkpoint",
  async run(stage, show) {
    const { client } = stage;
    const start = async (worker: string) => [worker, await stage.agent("reporter", "reporter", worker)] as const;
    const workers = new Map(await Promise.all([start("reporter-a"), start("reporter-b")]));
    const handle = await client.send<Report>("report", { topic: "leases" }, { timeout: "25s", lease: "2s" });
    const { lease } = await seen(
      () => handle.status(),
      ({ checkpoint }) => (checkpoint?.number ?? 0) >= 2,
    );
    const victim = lease?.worker ?? "";
    const process = workers.get(victim);
    if (process !== undefined) await kill(process);
    show.line(`${victim} was killed in the middle of five parts; its lease of 2 s runs out, the fence rises`);
    const { parts } = await handle.result();
    const events = await showEvents(client, handle.id, show);
    show.line(parts.map(({ title, by }) => `${title} (${by})`).join(" · "));
    const writers = parts.map(({ by }) => by);
    must(parts.length === 5, "the report has five parts");
    must(writers[0] === victim && writers[1] === victim, "what was done before the kill was not done again");
    must(writers[4] !== victim, "another worker went on where it stopped");
    must(events.filter(({ type }) => type === "completed").length === 1, "it was completed once");
  },
};
