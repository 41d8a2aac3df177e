import { describe, expect, it } from "vitest";
import { commandName, spelled } from "./command-name.ts";

describe("what a person is told to type", () => {
  it("goes through npx where this command did, or where it is a project's own", () => {
    expect(commandName({}, "/usr/local/bin/handfast")).toBe("handfast");
    expect(commandName({ npm_execpath: "/npm/npx-cli.js" }, "/x/handfast.js")).toBe("npx handfast");
    expect(commandName({}, "/project/node_modules/.bin/handfast")).toBe("npx handfast");
  });

  it("is spelled so in every text, once", () => {
    const text = "Type handfast why 1, or npx handfast agents; handfast.toml and ./handfast stay.";
    expect(spelled(text, "npx handfast")).toBe(
      "Type npx handfast why 1, or npx handfast agents; handfast.toml and ./handfast stay.",
    );
    expect(spelled("handfast why 1", "handfast")).toBe("handfast why 1");
  });
});
