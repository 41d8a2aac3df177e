/** The worker asks back before it goes on; the sender answers. */

import { must, type Step, showEvents } from "../step.ts";

export const question: Step = {
  name: "question",
  title: "The worker asks, the sender answers",
  async run({ client }, show) {
    const handle = await client.send<{ paid: boolean }>("approve", { amount: 120 }, { timeout: "20s" });
    for await (const asked of client.questions()) {
      if (asked.handoff !== handle.id) continue;
      show.line(`question: ${JSON.stringify(asked.question)}`);
      await client.answer(asked.id, true);
      show.line("answer:   yes");
      break;
    }
    const { paid } = await handle.result();
    const events = await showEvents(client, handle.id, show);
    must(paid, "the worker got the answer");
    must(
      events.some(({ type }) => type === "answered"),
      'the log has "answered"',
    );
  },
};
