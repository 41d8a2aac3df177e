// Types of Python for what a relay answers, from the schemas of the wire: what generate-python.ts writes as views.py.

type Schema = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly description?: string;
};

/** The views that users of the client hold, by their names there. Parts that have a name are made before what has them. */
const views: readonly (readonly [view: string, schema: string, path?: string])[] = [
  ["PayloadDigest", "payload-digest"],
  ["ArtifactReference", "artifact"],
  ["OutcomeView", "outcome"],
  ["ProgressView", "handoff", "progress"],
  ["LeaseHolderView", "handoff", "lease"],
  ["FailureView", "handoff", "failures"],
  ["LimitsView", "handoff", "limits"],
  ["OpenQuestionView", "handoff", "question"],
  ["DeadLetterStatus", "handoff", "dead_letter"],
  ["HandoffView", "handoff"],
  ["Receipt", "receipt"],
  ["QuestionView", "question"],
  ["HandoffEvent", "event"],
  ["CapabilityView", "capability"],
  ["AgentView", "agent"],
  ["DeadLetterView", "dead-letter"],
  ["LeaseView", "lease"],
  ["Hit", "hit"],
  ["Miss", "miss"],
  ["ContractTerms", "contract-terms"],
  ["OfferView", "offer"],
  ["DeclinedView", "negotiation-reply", "declined"],
  ["ContractView", "contract"],
  ["ProposalCall", "proposal-call"],
];

const head = `"""Types of what a relay answers, as on the wire: see spec/wire.md. Fields that are not known here may come too.

Written by scripts/generate-python.ts from the schemas of the protocol: change those, not this.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from typing_extensions import NotRequired, TypedDict

`;

export function renderViews(schemas: Readonly<Record<string, unknown>>): string {
  const known = new Map<string, string>();
  const parts: string[] = [];
  for (const [view, name, path] of views) {
    const schema = partOf(schemas[name] as Schema, path);
    parts.push(renderView(view, schema, known));
    known.set(JSON.stringify(schema), view);
  }
  return head + parts.join("\n");
}

/** A member of it, without its null and its list. */
function partOf(schema: Schema, path: string | undefined): Schema {
  if (path === undefined) return schema;
  const member = schema.properties?.[path] ?? {};
  const some = member.anyOf?.find(({ type }) => type !== "null") ?? member;
  return some.type === "array" ? (some.items ?? {}) : some;
}

/** In the functional form, because `from` is a word of Python. */
function renderView(
  view: string,
  { properties = {}, required = [] }: Schema,
  known: ReadonlyMap<string, string>,
): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, known);
    const whole = required.includes(name) ? type : `NotRequired[${type}]`;
    const comment = schema.description === undefined ? "" : `        # ${schema.description}\n`;
    return `${comment}        "${name}": ${whole},\n`;
  });
  return `${view} = TypedDict(\n    "${view}",\n    {\n${members.join("")}    },\n)\n`;
}

function typeOf(schema: Schema, known: ReadonlyMap<string, string>): string {
  const named = known.get(JSON.stringify(schema));
  if (named !== undefined) return named;
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(", ")}]`;
  if (schema.anyOf !== undefined) return `Union[${schema.anyOf.map((each) => typeOf(each, known)).join(", ")}]`;
  switch (schema.type) {
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "null":
      return "None";
    case "array":
      return `list[${typeOf(schema.items ?? {}, known)}]`;
    case "object":
      return "dict[str, Any]";
    default:
      return "Any";
  }
}

function literal(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
