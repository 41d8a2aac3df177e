import { globSync, readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { anchorOfReason, codeRemedies, reasonTables, remedyOf } from "./remedies.ts";
import { statusCodes } from "./status-codes.ts";

const packages = new URL("../../", import.meta.url).pathname;

interface Said {
  readonly file: string;
  readonly codes: readonly number[];
  readonly reason: string;
}

/** How the sources name a reason: in a refusal, a fault, a problem, or as a member. */
const forms = [
  /\b(?:\w*[Pp]roblem|EngineFault|refusal|refused|malformed|untrusted|outcomeError|failure)\(\s*([\w\s?:,]*?)"([a-z][a-z0-9_]*)"/g,
  /\berrands\.run\(()"([a-z][a-z0-9_]*)"/g,
  /new UsageError\(()[^;]*?,\s*"([a-z][a-z0-9_]*)"\s*[,)]/g,
  /(?:\bcode:\s*(\d{3}),\s*)?\breason:\s*"([a-z][a-z0-9_]*)"/g,
];

function saidIn(file: string): readonly Said[] {
  const text = readFileSync(`${packages}${file}`, "utf8").replace(/^\s*(\/?\*|\/\/).*$/gm, "");
  return forms.flatMap((form) =>
    [...text.matchAll(form)].map(([, before = "", reason = ""]) => ({
      file,
      codes: [...before.matchAll(/\b[2-5]\d\d\b/g)].map(([code]) => Number(code)),
      reason,
    })),
  );
}

const sources = globSync("{core,engine,relay,client,cli}/src/**/*.ts", { cwd: packages }).filter(
  (name) => !/\.(test|conformance|samples)\.ts$|\/(testing|demo|doctor)\//.test(name),
);
const said = sources.flatMap(saidIn);
const known = new Map(
  Map.groupBy(
    reasonTables.flatMap(({ reasons }) => reasons),
    ({ reason }) => reason,
  ),
);

describe("remedies", () => {
  it("are there for every reason that the sources name, with its code", () => {
    expect(said.length).toBeGreaterThan(150);
    const missing = said.filter(({ codes, reason }) => {
      const rows = known.get(reason) ?? [];
      // HTTP has a status of its own for a few: one of the two is the code.
      return codes.length === 0
        ? rows.length === 0
        : !rows.some((row) => codes.some((code) => row.codes.includes(code)));
    });
    expect(missing).toEqual([]);
  });

  it("are there for every fault of JSON, which a body may have", () => {
    const scanner = readFileSync(`${packages}protocol/src/json-scanner.ts`, "utf8");
    const union = /type JsonReason =([^;]+);/.exec(scanner)?.[1] ?? "";
    const reasons = [...union.matchAll(/"(\w+)"/g)].map(([, reason = ""]) => reason);
    expect(reasons.length).toBeGreaterThan(5);
    expect(reasons.filter((reason) => !known.has(reason))).toEqual([]);
  });

  it("are there for every reason of the specification", () => {
    const rows = readFileSync(`${packages}../spec/status-codes.md`, "utf8").matchAll(
      /^\| (\d{3})[\d, ]* \| (`.+?`) \|/gm,
    );
    const named = [...rows].flatMap(([, code, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, reason = ""]) => ({ code: Number(code), reason })),
    );
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ code, reason }) => !remedyOf(code, reason).anchor.startsWith(reason))).toEqual([]);
  });

  it("explain no reason that nothing says any more", () => {
    const texts = sources.concat(
      globSync("protocol/src/*.ts", { cwd: packages }).filter((name) => !name.includes("test")),
    );
    // Some are said by the Python SDK alone.
    const python = globSync("../python/src/handfast/**/*.py", { cwd: packages });
    const all = [...texts, ...python].map((file) => readFileSync(`${packages}${file}`, "utf8")).join("\n");
    expect([...known.keys()].filter((reason) => !all.includes(`"${reason}"`))).toEqual([]);
  });

  it("end each cause and remedy as a sentence", () => {
    const all = [...Object.values(codeRemedies), ...[...known.values()].flat()];
    expect(all.flatMap(({ cause, remedy }) => [cause, remedy]).filter((text) => !/^[A-Z].*\.$/.test(text))).toEqual([]);
  });

  it("have a place of their own each", () => {
    const anchors = [...known.values()].flat().map(anchorOfReason);
    expect(new Set(anchors).size).toBe(anchors.length);
  });
});

describe("remedyOf", () => {
  test("a known reason", () => expect(remedyOf(409, "key_conflict").anchor).toBe("key_conflict"));
  test("a reason that means two things, by its code", () => {
    expect(remedyOf(429, "too_many_keys").anchor).toBe("too_many_keys");
    expect(remedyOf(400, "too_many_keys").anchor).toBe("too_many_keys-400");
  });
  test("a reason of the client's own, which has no code", () =>
    expect(remedyOf(0, "relay_unreachable").remedy).toContain("handfast start"));
  test("an agent's own reason falls back on the code", () => {
    expect(remedyOf(500, "model_overloaded").anchor).toBe("500-agent_failed");
    expect(remedyOf(500, "busy").anchor).toBe("500-agent_failed");
  });
  test("no reason: the code", () => expect(remedyOf(408).anchor).toBe("408-deadline_passed"));
  test("a code that is not known is treated as the lowest of its hundred", () => {
    expect(remedyOf(499).anchor).toBe("400-malformed");
    expect(remedyOf(599).anchor).toBe("500-agent_failed");
  });
  test.each(statusCodes)("$code has a cause and a remedy", ({ code, name }) => {
    expect(remedyOf(code).anchor).toBe(`${code}-${name}`);
  });
});
