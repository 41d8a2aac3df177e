/** What is looked for: in each way that a need can be put, another one every time. */

import type { Need } from "@handfast/client";
import { drawing, pick, schemaOf, vocabulary } from "./manifests.ts";

const { verbs, matters, manners, tags } = vocabulary;

const ways = {
  "by words": (draw: () => number): Need => ({
    words: `${pick(verbs, draw)} a ${pick(matters, draw)} ${pick(manners, draw).replaceAll("_", " ")}`,
  }),
  "by name and range": (draw: () => number): Need => ({
    capability: `${pick(verbs, draw)}_${pick(matters, draw)}`,
    version: `>=${1 + Math.floor(draw() * 2)}.${Math.floor(draw() * 5)}`,
  }),
  "by tags": (draw: () => number): Need => ({ tags: [pick(tags, draw)] }),
  "by words and schemas": (draw: () => number): Need => ({
    words: `${pick(verbs, draw)} ${pick(matters, draw)}`,
    inputSchema: schemaOf(draw, 3),
    outputSchema: schemaOf(draw, 1),
  }),
  "by schemas alone": (draw: () => number): Need => ({
    inputSchema: schemaOf(draw, 3),
    outputSchema: schemaOf(draw, 1),
  }),
} as const;

export type Way = keyof typeof ways;

export const allWays = Object.keys(ways) as Way[];

export function needs(way: Way, seed: number): () => Need {
  const draw = drawing(seed);
  return () => ways[way](draw);
}
