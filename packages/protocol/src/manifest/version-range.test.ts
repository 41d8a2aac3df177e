import { describe, expect, it, test } from "vitest";
import { compareVersions, isInRange, isSemantic, readRange, readVersion } from "./version-range.ts";

describe("versions", () => {
  test.each(["0.0.0", "1.2.3", "10.20.30", "1.0.0-rc.1", "1.0.0-0.3.7", "1.0.0-x-y-z.4", "1.0.0+build.5", "1.0.0-a+b"])(
    "%s is semantic",
    (text) => expect(isSemantic(text)).toBe(true),
  );
  test.each([
    "",
    "1",
    "1.2",
    "v1.2.3",
    "01.2.3",
    "1.2.3.4",
    "1.0.0-",
    "1.0.0-01",
    "1.0.0-a..b",
    "latest",
    "2024-11-01",
    "1.2.99999999999999999999",
  ])("%j is not", (text) => expect(isSemantic(text)).toBe(false));

  it("are in the order of semver.org", () => {
    const order = [
      "0.9.9",
      "1.0.0-1",
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.0.1",
      "1.1.0",
      "2.0.0",
    ];
    for (const [i, older] of order.entries()) {
      for (const [j, newer] of order.entries()) {
        const [a, b] = [readVersion(older), readVersion(newer)];
        if (a === null || b === null) throw new Error(`${older} and ${newer} are versions`);
        expect([older, newer, Math.sign(compareVersions(a, b))]).toEqual([older, newer, Math.sign(i - j)]);
      }
    }
  });
});

describe("ranges", () => {
  test.each([
    ["^1.2", ["1.2.0", "1.2.9", "1.99.0"], ["1.1.9", "2.0.0", "0.9.0"]],
    ["^1.2.3", ["1.2.3", "1.3.0"], ["1.2.2", "2.0.0"]],
    ["^0.2.3", ["0.2.3", "0.2.9"], ["0.2.2", "0.3.0", "1.0.0"]],
    ["^0.0.3", ["0.0.3"], ["0.0.4", "0.1.0"]],
    ["^0.0", ["0.0.0", "0.0.9"], ["0.1.0"]],
    ["^0", ["0.0.0", "0.9.0"], ["1.0.0"]],
    ["^2", ["2.0.0", "2.9.9"], ["3.0.0", "1.9.9"]],
    ["~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0", "1.2.2"]],
    ["~1.2", ["1.2.0", "1.2.9"], ["1.3.0"]],
    ["~1", ["1.0.0", "1.9.0"], ["2.0.0"]],
    [">=2 <4", ["2.0.0", "3.9.9"], ["1.9.9", "4.0.0"]],
    [">= 2 < 4", ["2.0.0"], ["4.0.0"]],
    [">1.2", ["1.3.0"], ["1.2.9", "1.2.0"]],
    [">1.2.3", ["1.2.4"], ["1.2.3"]],
    ["<=1.2", ["1.2.9", "0.0.1"], ["1.3.0"]],
    ["<=1.2.3", ["1.2.3"], ["1.2.4"]],
    ["<1", ["0.9.9"], ["1.0.0"]],
    ["1.x", ["1.0.0", "1.9.9"], ["2.0.0"]],
    ["1.2.X", ["1.2.0"], ["1.3.0"]],
    ["1", ["1.0.0", "1.9.9"], ["2.0.0"]],
    ["1.2", ["1.2.7"], ["1.3.0"]],
    ["*", ["0.0.1", "9.9.9"], ["1.0.0-rc.1"]],
    ["x", ["0.0.1"], []],
    ["1.2.3", ["1.2.3", "1.2.3+build"], ["1.2.4"]],
    ["=1.2.3", ["1.2.3"], ["1.2.4"]],
    ["v1.2.3", ["1.2.3"], ["1.2.4"]],
    ["1.2.3 - 2.3", ["1.2.3", "2.3.9"], ["1.2.2", "2.4.0"]],
    ["^1 || ^3", ["1.5.0", "3.0.0"], ["2.0.0"]],
    ["1.0.0||2.0.0", ["1.0.0", "2.0.0"], ["1.0.1"]],
    [">=1.0.0-rc.1", ["1.0.0-rc.2", "1.0.0", "2.0.0"], ["1.0.0-beta", "2.0.0-rc.1"]],
    ["^1.0.0-rc.1", ["1.0.0-rc.1", "1.2.0"], ["1.1.0-rc.1", "2.0.0"]],
    [">*", [], ["0.0.0", "1.0.0"]],
  ])("%s", (range, inside, outside) => {
    for (const version of inside) expect([version, isInRange(version, range)]).toEqual([version, true]);
    for (const version of outside) expect([version, isInRange(version, range)]).toEqual([version, false]);
  });

  test.each([
    "",
    "latest",
    "1.x.3",
    "^",
    ">=",
    "1.2.3.4",
    "a || 1",
    "1 ||",
    "^^1",
    "01",
    "1 - ",
    "1.2.3 -2",
    "x".repeat(300),
    "^1".repeat(200),
  ])("%j is none", (text) => expect(readRange(text)).toBeNull());

  it("a version that is not semantic is met by its own text only", () => {
    expect(isInRange("2024-11-01", "2024-11-01")).toBe(true);
    for (const range of ["*", ">=0", "2024"]) expect(isInRange("2024-11-01", range)).toBe(false);
  });

  it("without a version only * is met", () => {
    expect(isInRange(undefined, "*")).toBe(true);
    expect(isInRange(undefined, ">=0")).toBe(false);
  });

  it("reads a hostile text in no time", () => {
    const started = performance.now();
    for (const text of [
      ">".repeat(256),
      "1.".repeat(128),
      "0-".repeat(128),
      " ".repeat(256),
      "|".repeat(256),
      "-1".repeat(128),
    ])
      readRange(text);
    expect(performance.now() - started).toBeLessThan(200);
  });
});
