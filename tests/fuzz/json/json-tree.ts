/**
 * JSON as a tree whose leaves and names are text. So it can also say what no writer of JSON would: the same name twice,
 * numbers of a thousand digits, halves of characters.
 */

export type Tree = Leaf | List | Members;

export interface Leaf {
  readonly kind: "leaf";
  readonly text: string;
}
export interface List {
  readonly kind: "list";
  readonly items: Tree[];
}
export interface Members {
  readonly kind: "members";
  readonly pairs: Pair[];
}
interface Pair {
  /** In its quotes. */
  name: string;
  value: Tree;
}

export function leaf(text: string): Leaf {
  return { kind: "leaf", text };
}

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: "list", items: value.map(treeOf) };
  if (typeof value === "object" && value !== null) {
    const said = Object.entries(value).filter(([, member]) => member !== undefined);
    return {
      kind: "members",
      pairs: said.map(([name, member]) => ({ name: JSON.stringify(name), value: treeOf(member) })),
    };
  }
  return leaf(JSON.stringify(value) ?? "null");
}

export function textOf(tree: Tree): string {
  switch (tree.kind) {
    case "leaf":
      return tree.text;
    case "list":
      return `[${tree.items.map(textOf).join(",")}]`;
    case "members":
      return `{${tree.pairs.map(({ name, value }) => `${name}:${textOf(value)}`).join(",")}}`;
    default:
      return tree satisfies never;
  }
}

/** A place in a tree that holds a value. */
export interface Slot {
  readonly holder: List | Members;
  readonly at: number;
}

export function valueAt({ holder, at }: Slot): Tree {
  const value = holder.kind === "list" ? holder.items[at] : holder.pairs[at]?.value;
  if (value === undefined) throw new Error("the slot is empty");
  return value;
}

export function replaceAt({ holder, at }: Slot, value: Tree): void {
  if (holder.kind === "list") holder.items[at] = value;
  else holder.pairs.splice(at, 1, { name: holder.pairs[at]?.name ?? '""', value });
}

export function removeAt({ holder, at }: Slot): void {
  if (holder.kind === "list") holder.items.splice(at, 1);
  else holder.pairs.splice(at, 1);
}

/** Says the same again right behind it: in an object, under the same name. */
export function repeatAt({ holder, at }: Slot, times: number): void {
  if (holder.kind === "list") {
    const item = holder.items[at];
    if (item !== undefined) holder.items.splice(at, 0, ...Array.from({ length: times }, () => item));
  } else {
    const pair = holder.pairs[at];
    if (pair !== undefined) holder.pairs.splice(at, 0, ...Array.from({ length: times }, () => ({ ...pair })));
  }
}

/** Every place below, in the order of the text; of a large tree only the first so many. */
export function slotsOf(root: List | Members, most = 2_000): Slot[] {
  const slots: Slot[] = [];
  const visit = (holder: Tree): void => {
    if (holder.kind === "leaf") return;
    const length = holder.kind === "list" ? holder.items.length : holder.pairs.length;
    for (let at = 0; at < length && slots.length < most; at += 1) {
      const slot = { holder, at };
      slots.push(slot);
      visit(valueAt(slot));
    }
  };
  visit(root);
  return slots;
}
