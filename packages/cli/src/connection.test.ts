import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Cli } from "./testing/cli.ts";

let cli: Cli;
let url: string;
let token: string;
beforeAll(async () => {
  cli = await Cli.make();
  const relay = cli.spawn(["start", "--port", "0", "--production"]);
  [, url = ""] = await relay.said(/^relay (\S+) · .* · production$/m);
  const [, file = ""] = await relay.said(/^operator's token: (\S+)$/m);
  token = (await readFile(file, "utf8")).trim();
});
afterAll(() => cli.stop());

it("a key that is not admitted is told once, with what to type", async () => {
  const env = { HANDFAST_URL: url, HANDFAST_AGENT: "stranger" };
  const { code, stderr } = await cli.run(["send", "upper", "1"], { env });
  expect(code).toBe(77);
  const [, thumbprint = ""] = /The key (\S+) is not admitted/.exec(stderr) ?? [];
  expect(stderr.split(thumbprint).length - 1).toBe(2);
  expect(stderr).toContain("HANDFAST_TOKEN=OPERATORS_TOKEN in front (the file operator-token in");
});

it("an operator's token admits the keys of whoever serves and sends, which sign by themselves", async () => {
  const env = { HANDFAST_URL: url, HANDFAST_TOKEN: token };
  const worker = cli.spawn(["serve", "upper", "--text", "--", "tr", "a-z", "A-Z"], { env });
  await worker.said(/^serving upper as upper-1 /m);
  const sent = await cli.json(["send", "upper", "--text", "hi"], { env: { ...env, HANDFAST_AGENT: "alice" } });
  expect(sent).toMatchObject({ from: "alice", evidence: "signed", outcome: { text: "HI", evidence: "signed" } });
  const known = await cli.run(["send", "upper", "--text", "hi"], {
    env: { HANDFAST_URL: url, HANDFAST_AGENT: "alice" },
  });
  expect(known).toMatchObject({ code: 0, stdout: "HI\n" });
  await worker.stop();
});
