/** Manifests as many agents might publish them: names that some share, words of all kinds, a few hundred shapes of schemas. */

const verbs = words(
  "extract summarize translate classify review draft plan check compare convert find rank clean merge",
);
const matters = words(
  "invoice contract letter report image video speech table recipe route ticket patent protein genome policy claim loan " +
    "lease budget forecast meeting lecture podcast chart poem essay news tender drawing circuit sensor crop herd vessel " +
    "flight hotel museum film novel song statute verdict exam syllabus diet workout prescription symptom vaccine battery " +
    "turbine pipeline bridge tunnel contour orbit telescope reagent polymer alloy enzyme neuron habitat glacier",
);
const manners = words(
  "quickly carefully cheaply locally in_bulk by_hand offline with_sources for_children for_lawyers for_doctors " +
    "in_german in_french in_hindi in_swahili from_scans from_audio from_email to_json to_tables",
);
const filler = words(
  "agent input output gives takes text data result field value page line word part list item record source detail note " +
    "quality exact short long plain structured reliable public private draft final daily archive language region",
);
const tags = [...matters.slice(0, 40), ...words("law health money travel science code art farming energy media")];
const types = words("string int number bool array string? int? bool?");
const fields = words(
  "text url title language depth limit pages query format author date amount currency region tags mode",
);

export const capabilities_each = 5;

/** A need and a manifest speak of the same things. */
export const vocabulary = { verbs, matters, manners, tags };

export interface MadeCapability {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly input_schema: Readonly<Record<string, string>>;
  readonly output_schema: Readonly<Record<string, string>>;
  readonly timeout_seconds: number;
  readonly reliability_sla?: number;
}

/** The same for the same number. */
export function capabilitiesOf(nth: number): readonly MadeCapability[] {
  const draw = drawing(nth + 1);
  const made = new Map<string, MadeCapability>();
  while (made.size < capabilities_each) {
    const [verb, matter, manner] = [pick(verbs, draw), pick(matters, draw), pick(manners, draw)];
    const name = `${verb}_${matter}`;
    made.set(name, {
      name,
      version: `${1 + Math.floor(draw() * 3)}.${Math.floor(draw() * 10)}.0`,
      description: `Can ${verb} any ${matter} ${manner.replaceAll("_", " ")}: ${several(filler, 12, draw).join(" ")}.`,
      tags: [matter, ...several(tags, 2, draw)].filter((tag, at, all) => all.indexOf(tag) === at),
      input_schema: schemaOf(draw, 3),
      output_schema: schemaOf(draw, 4),
      timeout_seconds: 10 + Math.floor(draw() * 600),
      ...(draw() < 0.5 ? { reliability_sla: 0.9 } : {}),
    });
  }
  return [...made.values()];
}

/** Among a few hundred shapes: agents that do the same are made alike. */
export function schemaOf(draw: () => number, size: number): Readonly<Record<string, string>> {
  const shape = drawing(1_000 + Math.floor(draw() * 200));
  return Object.fromEntries(several(fields, size, shape).map((field) => [field, pick(types, shape)]));
}

/** In [0, 1), and the same every time for the same seed. */
export function drawing(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick(from: readonly string[], draw: () => number): string {
  return from[Math.floor(draw() * from.length)] ?? "";
}

function several(from: readonly string[], count: number, draw: () => number): readonly string[] {
  return Array.from({ length: count }, () => pick(from, draw));
}

function words(text: string): readonly string[] {
  return text.split(" ");
}
