/** The specification's prose names everything that the vectors show. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Life } from "./testing/life.ts";
import { scenarios } from "./testing/scenarios.ts";

function read(name: string): string {
  return readFileSync(new URL(`../../../spec/${name}`, import.meta.url), "utf8");
}

const steps = Object.values(scenarios)
  .flatMap((section) => Object.values(section))
  .flatMap((tell) => tell().steps);

describe("the specification", () => {
  it("explains every event that the scenarios bring about", () => {
    const text = read("events.md");
    const types = new Set(steps.flatMap(({ decision }) => decision.events.map(({ type }) => type)));
    expect([...types].filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
  });

  it("names every field of every event", () => {
    const text = read("events.md");
    const names = new Set(steps.flatMap(({ decision }) => decision.events.flatMap((event) => Object.keys(event))));
    expect([...names].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it("lists every reason for a refusal, under its code", () => {
    const rows = read("status-codes.md").split("\n");
    const schema = new Set([422, 502]);
    const refusals = steps.flatMap(({ decision }) => (decision.refusal === null ? [] : [decision.refusal]));
    const unlisted = refusals.filter(
      ({ code, reason }) =>
        !schema.has(code) && !rows.some((row) => row.includes(`${code}`) && row.includes(`\`${reason}\``)),
    );
    expect(unlisted).toEqual([]);
  });

  it("has a row in the table of codes for every code that is used", () => {
    const table: readonly { readonly code: number }[] = JSON.parse(read("status-codes.json"));
    const known = new Set(table.map(({ code }) => code));
    const used = steps.flatMap(({ decision: { refusal, events } }) => [
      ...(refusal === null ? [] : [refusal.code]),
      ...events.flatMap((event) => ("code" in event && event.code !== null ? [event.code] : [])),
    ]);
    expect(used.filter((code) => !known.has(code))).toEqual([]);
  });

  it("gives as defaults what the samples run with", () => {
    const text = read("handoffs.md");
    const { ack_ms, lease_ms, deadline_ms } = Life.of().handoff.accepted.terms;
    expect(text).toContain(`| ${ack_ms / 1_000} s |`);
    expect(text).toContain(`| ${lease_ms / 1_000} s |`);
    expect(text).toContain(`${deadline_ms / 60_000} min |`);
  });
});
