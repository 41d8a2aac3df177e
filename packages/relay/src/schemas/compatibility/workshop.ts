/** Makes atoms and nodes, and gives equal ones equal ids. All that is compared comes from one workshop. */

import { canonicalJson } from "../canonical-json.ts";
import { LinearPattern } from "../linear-pattern.ts";
import { costs, MeterSlot } from "../meter.ts";
import { ValueSet } from "../same-value.ts";
import type { Atom, Node, Rule } from "./atom.ts";

export class Workshop {
  /** What all work is charged to, also that of patterns and of sets of values; without a limit until one is set. */
  readonly meter = new MeterSlot();
  readonly anything: Node;
  readonly nothing: Node;
  private readonly ids = new Map<string, number>();
  private readonly patterns = new Map<string, LinearPattern>();

  constructor() {
    this.anything = this.node([]);
    this.nothing = this.node([this.atom({ rule: "never" }, "")]);
  }

  atom(rule: Rule, path: string): Atom {
    return { ...rule, path, id: this.identify(textOf(rule)) };
  }

  /** Equal atoms are taken once. */
  node(atoms: readonly Atom[]): Node {
    this.meter.spend(atoms.length * costs.compared_value);
    const distinct = new Map<number, Atom>();
    for (const atom of atoms) if (!distinct.has(atom.id)) distinct.set(atom.id, atom);
    const ids = [...distinct.keys()].sort((a, b) => a - b).join();
    return { id: this.identify(`all:${ids}`), atoms: [...distinct.values()] };
  }

  values(values: readonly unknown[], path: string): Atom {
    return this.atom({ rule: "values", values, set: new ValueSet(this.meter, values) }, path);
  }

  pattern(source: string): LinearPattern {
    const known = this.patterns.get(source);
    if (known !== undefined) return known;
    const made = new LinearPattern(source, this.meter);
    this.patterns.set(source, made);
    return made;
  }

  private identify(text: string): number {
    this.meter.spend(costs.compared_value + text.length * costs.compared_char);
    const known = this.ids.get(text);
    if (known !== undefined) return known;
    this.ids.set(text, this.ids.size);
    return this.ids.size - 1;
  }
}

/** Equal for rules that demand the same in the same words, whatever order does not matter. */
function textOf(rule: Rule): string {
  switch (rule.rule) {
    case "never":
    case "unique":
      return rule.rule;
    case "type":
      return `type:${[...rule.kinds].sort().join()}:${rule.whole}`;
    case "values":
      return `values:${rule.values.map(canonicalJson).sort().join()}`;
    case "limit":
      return `${rule.side}:${rule.of}:${rule.value}:${rule.exclusive}`;
    case "multiple":
      return `multiple:${rule.of}`;
    case "pattern":
      return `pattern:${rule.pattern}`;
    case "items":
      return `items:${idsOf(rule.first)}:${rule.rest.id}`;
    case "contains":
      return `contains:${rule.schema.id}:${rule.least}:${rule.most}`;
    case "members":
      return membersText(rule);
    case "required":
      return `required:${rule.name}`;
    case "names":
    case "not":
      return `${rule.rule}:${rule.schema.id}`;
    case "dependent":
      return `dependent:${rule.schema.id}:${rule.name}`;
    case "any":
    case "one":
      return `${rule.rule}:${idsOf([...rule.branches].sort((a, b) => a.id - b.id))}`;
    case "if":
      return `if:${idsOf([rule.test, rule.yes, rule.no])}`;
    default:
      return rule satisfies never;
  }
}

function membersText({ named, patterned, others }: Extract<Rule, { rule: "members" }>): string {
  const names = [...named].map(([name, { id }]) => [name, id]).sort(byName);
  const patterns = patterned.map(({ pattern, schema }) => [String(pattern), schema.id]).sort(byName);
  return `members:${JSON.stringify([names, patterns, others.id])}`;
}

function byName([a = ""]: readonly (string | number)[], [b = ""]: readonly (string | number)[]): number {
  return a < b ? -1 : 1;
}

function idsOf(nodes: readonly Node[]): string {
  return nodes.map(({ id }) => id).join();
}
