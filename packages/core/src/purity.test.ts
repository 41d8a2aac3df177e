/** Core is pure: the same record, command, context and time always give the same decision. */

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decide } from "./decide.ts";
import { Life } from "./testing/life.ts";
import { scenarios } from "./testing/scenarios.ts";

const folder = new URL("./", import.meta.url);
const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
const impure = /\b(Date|performance|Math\.random|crypto|setTimeout|setInterval|process|await|async)\b|from "(?!\.\/)/;

describe("core", () => {
  it.each(sources)("%s uses no clock, no randomness, no I/O and no other package", (name) => {
    expect(readFileSync(new URL(name, folder), "utf8")).not.toMatch(impure);
  });

  it("decides the same again, and changes nothing that it was given", () => {
    for (const tell of Object.values(scenarios).flatMap((section) => Object.values(section))) {
      for (const { state, command, context, now, decision } of tell().steps) {
        const before = JSON.stringify([state, command, context]);
        expect(decide(state, command, context, now)).toEqual(decision);
        expect(JSON.stringify([state, command, context])).toBe(before);
      }
    }
  });

  it("keeps records that survive a store: plain JSON, nothing lost", () => {
    for (const life of [Life.of(), Life.working(), Life.failed(), Life.completed()]) {
      expect(JSON.parse(JSON.stringify(life.handoff))).toEqual(life.handoff);
    }
  });
});
