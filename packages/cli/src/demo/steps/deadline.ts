/** Nobody is there in time: a dead letter with its history; later it is redriven, and the outcome comes to its sender. */

import { HandoffError } from "@handfast/client";
import { kill } from "../stage.ts";
import { must, type Step, showEvents } from "../step.ts";

export const deadline: Step = {
  name: "deadline",
  title: "A deadline is missed; its dead letter is redriven",
  async run(stage, show) {
    const { client } = stage;
    await kill(await stage.agent("translator", "translator", "translator-a"));
    show.line("the translator has gone home");
    const handle = await client.send("translate", { text: "good night" }, { timeout: "2500ms" });
    const refusal: unknown = await handle.result().then(
      () => null,
      (error: unknown) => error,
    );
    must(refusal instanceof HandoffError && refusal.code === 408, "the sender is told 408, deadline passed");
    if (refusal instanceof HandoffError) show.line(`${refusal.code} ${refusal.name}: ${refusal.message}`);
    await stage.agent("translator", "translator", "translator-b");
    const { redriven_as: id } = await client.call("redrive", { params: { id: handle.id }, body: {} });
    const { text } = await client.handle<{ text: string }>(id).result();
    await showEvents(client, handle.id, show);
    await showEvents(client, id, show);
    show.line(`redriven, and completed: ${text}`);
    must(text === "GOOD NIGHT (translated)", "the redriven handoff was completed");
  },
};
