/**
 * Fuzzing: a relay in a process of its own is fired at over both transports, and must not notice. Then known bugs are
 * put back one at a time, to see that the same fire finds them.
 *
 * `INPUTS=1000000 npx vitest run tests/fuzz.test.ts` fires more; `npm run fuzz` prints as it goes. See
 * docs/fuzzing.md.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { type DocumentTyp, documentSchemas, readDocument } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../packages/relay/src/operations/table.ts";
import { fitter } from "../packages/relay/src/schemas/fit.ts";
import { makeCall } from "./fuzz/calls/make-call.ts";
import { Scene } from "./fuzz/calls/scene.ts";
import { gather } from "./fuzz/cast/troupe.ts";
import { chanceOf } from "./fuzz/chance.ts";
import { bugs } from "./fuzz/run/bugs.ts";
import { RelayUnderFire } from "./fuzz/run/relay-under-fire.ts";

const inputs = Number(process.env["INPUTS"] ?? 50_000);
const few = ["--inputs", "4000", "--lanes", "8", "--answer-ms", "15000"];
const main = join(import.meta.dirname, "fuzz/main.ts");

function fire(...flags: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

test(`${inputs} inputs: no crash, no hang, no 500, memory bounded, the store still consistent`, {
  timeout: 300_000 + inputs * 20,
}, async () => {
  const { code, output } = await fire("--inputs", `${inputs}`);
  process.stdout.write(`${output.slice(output.indexOf("\nseed"))}\n`);
  expect(code, output).toBe(0);
});

/** Some are enough for a run of all tests; BUGS=all puts each back. */
const put_back = process.env["BUGS"] === "all" ? bugs : bugs.filter((_, nth) => nth % 3 === 0);

describe("a bug that is put back is found", () => {
  test.each(put_back)("$name", { timeout: 300_000 }, async ({ name, shows }) => {
    const { code, output } = await fire("--bug", name, ...few, "--no-shrink");
    expect(code, output).toBe(1);
    expect(output).toMatch(shows);
  });

  test("and its input is made smaller, until it can be played alone", { timeout: 300_000 }, async () => {
    const { output } = await fire("--bug", "frame-ends-process", ...few);
    const [, flags = ""] = /^again: npm run fuzz -- (.*)$/m.exec(output) ?? [];
    expect(flags, output).toMatch(
      /^--seed \d+ --episode \d+ --steps \d+( --without [\d:,]+)? --bug frame-ends-process$/,
    );
    const again = await fire(...flags.split(" "));
    expect(again.code, again.output).toBe(1);
    const without_bug = await fire(...flags.replace(/ --bug .*/, "").split(" "));
    expect(without_bug.code, without_bug.output).toBe(0);
  });
});

describe("before anything is made wrong", () => {
  let relay: RelayUnderFire;
  let scene: Scene;
  beforeAll(async () => {
    relay = await RelayUnderFire.start({ heap_mb: 256 });
    const troupe = await gather(relay.url, relay.operator_token, 1, 0);
    scene = new Scene({ episode: 0, url: relay.url, troupe, honest_ids: () => [] });
  });
  afterAll(() => relay.dispose());

  test.each(operations)("a call of $name fits its schemas", async ({ name, params, query, body }) => {
    const fits = {
      params: params === undefined ? null : fitter(params, "path"),
      query: query === undefined ? null : fitter(query, "query"),
      body: body === undefined ? null : fitter(body, "body"),
    };
    for (let at = 0; at < 100; at += 1) {
      const call = await makeCall(scene, chanceOf("sound", name, at), name);
      expect(call.operation.name).toBe(name);
      fits.params?.({ ...call.params });
      fits.query?.({ ...call.query });
      if (call.unsigned === null) fits.body?.(call.body);
      else expect(documentFault(call.unsigned.typ, call.unsigned.said)).toBeNull();
    }
  });
});

function documentFault(typ: string, said: unknown): unknown {
  const known = Object.keys(documentSchemas).find((each): each is DocumentTyp => each === typ);
  if (known === undefined) return `there are no documents of the kind ${typ}`;
  const read = readDocument(known, Buffer.from(JSON.stringify(said)));
  return read.ok ? null : read.fault;
}
