/** What is done wrong to JSON by somebody who knows its structure. */

import {
  type List,
  leaf,
  removeAt,
  repeatAt,
  replaceAt,
  type Slot,
  slotsOf,
  textOf,
  treeOf,
  valueAt,
} from "../json/json-tree.ts";
import { deepText, longText, oddLeaf, oddNumber, oddText } from "../json/odd-values.ts";
import { someJson } from "../json/some-json.ts";
import type { Around, Mutation } from "./mutation.ts";

/** The whole stands as the only item of a list, so that it has a place too. */
type Root = List;

const most_repeated_chars = 2_000_000;

function at(root: Root, { random }: Around): Slot | null {
  const slots = slotsOf(root);
  if (slots.length === 0) return null;
  // The whole itself only now and then: what is inside is worth more.
  return slots.length > 1 && random.chance(0.95) ? random.pick(slots.slice(1)) : (slots[0] ?? null);
}

function mutation(name: string, change: (slot: Slot, around: Around, root: Root) => void): Mutation<Root> {
  return {
    name,
    apply: (root, around) => {
      const slot = at(root, around);
      if (slot !== null) change(slot, around, root);
      return root;
    },
  };
}

export const treeMutations: readonly Mutation<Root>[] = [
  mutation("leave something out", (slot) => {
    if (slot.holder.kind === "members" || slot.holder.items.length > 1) removeAt(slot);
  }),
  mutation("say something twice", (slot) => repeatAt(slot, 1)),
  mutation("say something twice, differently", (slot, { random }) => {
    repeatAt(slot, 1);
    replaceAt(slot, oddLeaf(random));
  }),
  mutation("say something a thousand times", (slot, { random }) => {
    const times = random.pick([10, 100, 1_025, 4_097]);
    const text = textOf(valueAt(slot));
    if (text.length * times > most_repeated_chars) return;
    // As a leaf, so that what is done to one of them later is not done to all.
    replaceAt(slot, leaf(text));
    repeatAt(slot, times);
  }),
  mutation("an odd value", (slot, { random }) => replaceAt(slot, oddLeaf(random))),
  mutation("an odd value", (slot, { random }) => replaceAt(slot, oddLeaf(random))),
  mutation("an odd number", (slot, { random }) => replaceAt(slot, leaf(oddNumber(random)))),
  mutation("an odd string", (slot, { random }) => replaceAt(slot, leaf(oddText(random)))),
  mutation("a long string", (slot, { random }) => replaceAt(slot, leaf(longText(random)))),
  mutation("something deep", (slot, { random }) => replaceAt(slot, leaf(deepText(random)))),
  mutation("other JSON", (slot, { random }) => replaceAt(slot, treeOf(someJson(random)))),
  mutation("a real value in the wrong place", (slot, { random, scene, persona }) =>
    replaceAt(slot, treeOf(scene.stray(random, persona))),
  ),
  mutation("a real value in the wrong place", (slot, { random, scene, persona }) =>
    replaceAt(slot, treeOf(scene.stray(random, persona))),
  ),
  mutation("a number as text, text as a number", (slot) => {
    const value = valueAt(slot);
    if (value.kind !== "leaf") return;
    replaceAt(slot, leaf(value.text.startsWith('"') ? value.text.slice(1, -1) : `"${value.text}"`));
  }),
  mutation("in a list", (slot) => replaceAt(slot, { kind: "list", items: [valueAt(slot)] })),
  mutation("in an object", (slot) =>
    replaceAt(slot, { kind: "members", pairs: [{ name: '"a"', value: valueAt(slot) }] }),
  ),
  mutation("a member more", (slot, { random }) => {
    const value = valueAt(slot);
    const holder = value.kind === "members" ? value : slot.holder;
    if (holder.kind === "members") holder.pairs.push({ name: oddText(random), value: oddLeaf(random) });
  }),
  mutation("a member under another name", (slot, { random }) => {
    const pair = slot.holder.kind === "members" ? slot.holder.pairs[slot.at] : undefined;
    if (pair !== undefined) pair.name = oddText(random);
  }),
  mutation("two values change places", (slot, around, root) => {
    const other = at(root, around);
    if (other === null || isWithin(slot, other) || isWithin(other, slot)) return;
    const value = valueAt(slot);
    replaceAt(slot, valueAt(other));
    replaceAt(other, value);
  }),
  mutation("a character less, more or other", (slot, { random }) => {
    const value = valueAt(slot);
    if (value.kind !== "leaf" || !value.text.startsWith('"')) return;
    const inside = value.text.slice(1, -1);
    const cut = random.between(0, inside.length);
    const put = random.pick(["", "a", "A", "-", "=", "é", "\\u0000", " "]);
    replaceAt(slot, leaf(`"${inside.slice(0, cut)}${put}${inside.slice(cut + random.between(0, 1))}"`));
  }),
  mutation("upper case", (slot) => {
    const value = valueAt(slot);
    if (value.kind === "leaf" && value.text.startsWith('"')) replaceAt(slot, leaf(value.text.toUpperCase()));
  }),
];

function isWithin(outer: Slot, inner: Slot): boolean {
  if (outer.holder === inner.holder && outer.at === inner.at) return true;
  const value = valueAt(outer);
  return (
    value.kind !== "leaf" &&
    slotsOf(value).some(({ holder, at: place }) => holder === inner.holder && place === inner.at)
  );
}
