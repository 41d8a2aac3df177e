/** Output that comes word by word while the work goes on. */

import { must, type Step } from "../step.ts";

export const stream: Step = {
  name: "stream",
  title: "Output streamed while the work goes on",
  async run({ client }, show) {
    const handle = await client.send<{ words: number }>("story", { about: "the work" }, { timeout: "15s" });
    let heard = "";
    for await (const text of handle.chunks()) {
      heard += text;
      show.piece(text);
    }
    show.piece("");
    const { words } = await handle.result();
    must(heard.trim().split(" ").length === words, `all ${words} words came, in order`);
  },
};
