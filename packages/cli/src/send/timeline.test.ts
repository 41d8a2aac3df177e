import { expect, it } from "vitest";
import { Terminal } from "../terminal.ts";
import { Timeline } from "./timeline.ts";

it("shows no time that is before the one beside it", () => {
  const written: string[] = [];
  const sink = { isTTY: false, columns: 80, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  const terminal = new Terminal({ out: sink, err: sink, json: false, plain: true, debug: false, env: {} });
  const timeline = new Timeline(terminal);
  const began = performance.now();
  timeline.mark("accepted before", began + 15);
  timeline.mark("acknowledged", began + 27);
  timeline.mark("completed", began + 22);
  timeline.end();
  const [, before, at] = /acknowledged (\d+) ms · completed (\d+) ms/.exec(written.join("")) ?? [];
  expect(before).toBeDefined();
  expect(at).toBe(before);
});
