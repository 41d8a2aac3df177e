import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { renderCli } from "../../../scripts/generate-cli.ts";

it("docs/cli.md shows the commands as they are (node scripts/generate-cli.ts)", async () => {
  expect(readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")).toBe(await renderCli());
});
