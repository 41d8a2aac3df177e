import type { Handoff } from "@handfast/core";
import { expect, it } from "vitest";
import { boundedPage } from "./bounded-page.ts";

const handoffs = Array.from({ length: 10 }, (_, index) => ({ accepted: { id: `h${index}` }, version: 1 }) as Handoff);

it("a page that is too long ends where it is, and nothing of it is made twice or beyond the bound", async () => {
  const shown: string[] = [];
  const show = ({ accepted }: Handoff) => {
    shown.push(accepted.id);
    return "x".repeat(98);
  };
  const list = async (limit: number) => ({ handoffs: handoffs.slice(0, limit) });
  const { page, texts } = await boundedPage({ handoffs }, list, show, 300);
  expect(page.handoffs.map(({ accepted }) => accepted.id)).toEqual(["h0", "h1", "h2"]);
  expect(texts).toHaveLength(3);
  expect(shown).toEqual(["h0", "h1", "h2", "h3"]);
});
