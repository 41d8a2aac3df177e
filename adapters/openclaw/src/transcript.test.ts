/** Messages of OpenClaw, as they come from a session. */

import { describe, expect, test } from "vitest";
import { finalReply, readMessage } from "./transcript.ts";

const reply = (more: object) => [
  readMessage({ role: "assistant", content: [{ type: "text", text: "done" }], ...more }),
];

describe("the final reply", () => {
  test("is the text of the last message", () => {
    expect(finalReply(reply({ stopReason: "stop" }))).toBe("done");
    expect(finalReply([readMessage({ role: "assistant", content: "plain" })])).toBe("plain");
  });

  test("is not there before the model has come to an end", () => {
    const calls = [
      { type: "text", text: "I look" },
      { type: "toolCall", id: "1", name: "find" },
    ];
    expect(finalReply([])).toBeNull();
    expect(finalReply(reply({ content: calls }))).toBeNull();
    expect(finalReply([...reply({}), readMessage({ role: "user", content: "more" })])).toBeNull();
    expect(finalReply([...reply({}), readMessage({ role: "toolResult", content: [] })])).toBeNull();
  });

  test("is not what a run left that failed or was stopped", () => {
    expect(finalReply(reply({ stopReason: "error" }))).toBeNull();
    expect(finalReply(reply({ stopReason: "aborted" }))).toBeNull();
    expect(finalReply(reply({ content: [{ type: "text", text: " " }] }))).toBeNull();
  });
});
