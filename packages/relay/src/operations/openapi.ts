/** OpenAPI 3.1, generated from the table of operations with the very schemas that validate. */

import { statusCode } from "@handfast/protocol";
import { namedSchemas, withReferences } from "@handfast/protocol/wire";
import type { TSchema } from "typebox";
import { json, type Operation, operation } from "./operation.ts";
import { version } from "./version.ts";

const reference = (name: string) => `#/components/schemas/${name}`;

export function openApi(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const each of operations) {
    paths[each.path] = { ...paths[each.path], [each.method.toLowerCase()]: describe(each) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Handfast",
      version,
      summary: "A relay for handoffs between AI agents.",
      description:
        "The HTTP status tells how the call went; `code` in the body tells how the handoff went. Unknown request fields are refused; unknown response fields are to be ignored.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths: withReferences(paths, reference),
    components: {
      schemas: Object.fromEntries(
        Object.entries(namedSchemas).map(([name, schema]) => [name, withReferences(schema, reference, name)]),
      ),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A self-signed EdDSA JWT of at most 5 minutes, or a token of the relay.",
        },
      },
    },
  };
}

function describe(each: Operation) {
  const body = requestBody(each);
  return {
    operationId: each.name,
    tags: [each.tag],
    summary: each.summary,
    security: each.access === "anyone" ? [] : [{ bearer: [] }],
    parameters: [...parameters(each.params, "path"), ...parameters(each.query, "query"), ...headers(each)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...replies(each), ...problems(each) },
  };
}

function parameters(schema: Operation["query"], place: "path" | "query") {
  if (schema === undefined) return [];
  const required = new Set<string>((schema as { readonly required?: string[] }).required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.has(name),
    schema: property,
  }));
}

function headers(each: Operation) {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  });
  return [
    ...(each.waits === true || each.minimal === true ? [header("Prefer", preferences(each).join(" "))] : []),
    ...(each.streams === true ? [header("Last-Event-ID", "In a stream: the id of the last event that was read.")] : []),
    ...(each.name === "submit" ? [header("Idempotency-Key", "The same as idempotency_key in the body.")] : []),
  ];
}

function preferences({ waits, minimal }: Operation): readonly string[] {
  return [
    ...(waits === true ? ["wait=N: wait up to N seconds (RFC 7240)."] : []),
    ...(minimal === true ? ["return=minimal: leave out what the caller has or can ask for."] : []),
  ];
}

function requestBody(each: Operation) {
  if (each.streams_body === true) {
    return {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    };
  }
  const plain = each.documented_body ?? each.body;
  if (plain === undefined) return undefined;
  const schema: unknown = each.signed === undefined ? plain : { oneOf: [plain, each.signed] };
  const needed = (plain as { readonly required?: readonly string[] }).required ?? [];
  return { required: needed.length > 0, content: { "application/json": { schema } } };
}

function replies(each: Operation) {
  return Object.fromEntries(
    Object.entries(each.replies).map(([status, schema]) => [
      status,
      {
        description: describeStatus(Number(status)),
        ...(status === "204" ? {} : { content: content(each, schema) }),
      },
    ]),
  );
}

function content(each: Operation, schema: TSchema | null) {
  return {
    ...(schema === null
      ? { [each.media_type ?? "application/octet-stream"]: { schema: { type: "string" } } }
      : { "application/json": { schema } }),
    ...(each.streams === true ? { "text/event-stream": { schema: { type: "string" } } } : {}),
  };
}

function describeStatus(status: number): string {
  return (
    {
      200: "Done.",
      201: "Created.",
      202: "Accepted, durably.",
      204: "Done, and no more is said.",
      206: "A part.",
      503: "Not ready.",
    }[status] ?? "An answer."
  );
}

/** 503 is of the call: that no agent came in time is told of a handoff, never of a call. */
function describeProblem(code: number): string {
  return code === 503 ? "This node can do nothing for now." : (statusCode(code)?.title ?? "A problem.");
}

const always = [400, 429, 500, 503];

function problems(each: Operation) {
  const codes = new Set([
    ...always,
    ...(each.access === "anyone" ? [] : [401]),
    ...(each.access === "operator" ? [403] : []),
  ]);
  for (const code of each.problems ?? []) codes.add(code);
  return Object.fromEntries(
    [...codes]
      .sort((a, b) => a - b)
      .map((code) => [
        String(code),
        {
          description: describeProblem(code),
          content: { "application/problem+json": { schema: { $ref: reference("problem") } } },
        },
      ]),
  );
}

export function openApiOperation(operations: () => readonly Operation[]): Operation {
  let made: unknown;
  return operation(
    {
      name: "openapi",
      method: "GET",
      path: "/v1/openapi.json",
      tag: "relay",
      access: "anyone",
      summary: "This description.",
      replies: { 200: null },
      media_type: "application/json",
    },
    async () => {
      made ??= openApi(operations());
      return json(made);
    },
  );
}
