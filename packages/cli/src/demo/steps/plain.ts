/** A plain handoff: every receipt, by whom, and how it is proven. */

import { must, type Step, showEvents } from "../step.ts";

export const plain: Step = {
  name: "receipts",
  title: "A handoff, and a receipt for every step of it",
  async run({ client }, show) {
    const handle = await client.send<{ text: string }>("upper", { text: "hello" }, { timeout: "10s" });
    await handle.acknowledged();
    const { text } = await handle.result();
    const events = await showEvents(client, handle.id, show);
    show.line(`output: ${text}`);
    must(text === "HELLO", `the output is HELLO, not ${text}`);
    const types = events.map(({ type }) => type);
    for (const type of ["accepted", "delivered", "acknowledged", "completed"]) {
      must(types.includes(type), `the log has "${type}"`);
    }
  },
};
