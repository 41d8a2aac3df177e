// Writes the tables that the Python client takes from the protocol, so that the two languages cannot drift apart: remedies,
// status codes, operations, limits, the schemas of documents, and types for what a relay answers. node scripts/generate-python.ts
import { writeFileSync } from "node:fs";
import {
  anchorOfCode,
  anchorOfReason,
  codeRemedies,
  documentSchemas,
  protocolLimits,
  reasonTables,
  routes,
  statusCodes,
  wireLimits,
} from "../packages/protocol/src/mod.ts";
import { namedSchemas } from "../packages/protocol/src/wire/mod.ts";
import { renderViews } from "./python-views.ts";

const folder = new URL("../python/src/handfast/_generated/", import.meta.url);

/** Each file with the text that it must have now; its test compares. */
export function renderPython(): ReadonlyMap<string, string> {
  return new Map([
    ["remedies.json", json({ codes: codes(), reasons: reasons() })],
    ["status_codes.json", json(statusCodes)],
    ["operations.json", json(routes)],
    ["limits.json", json({ protocol: protocolLimits, wire: wireLimits })],
    ["documents.json", json(documentSchemas)],
    ["views.py", renderViews(namedSchemas)],
    [
      "__init__.py",
      '"""Written by scripts/generate-python.ts from the protocol\'s own tables: change those, not these."""\n',
    ],
  ]);
}

function codes(): unknown {
  return Object.fromEntries(
    statusCodes.map((status) => [status.code, { ...codeRemedies[status.code], anchor: anchorOfCode(status) }]),
  );
}

function reasons(): unknown {
  const rows = reasonTables.flatMap((table) => table.reasons);
  const by_name = Map.groupBy(rows, ({ reason }) => reason);
  return Object.fromEntries(
    [...by_name].map(([reason, same]) => [
      reason,
      same.map((row) => ({
        codes: row.codes,
        cause: row.cause,
        remedy: row.remedy,
        anchor: anchorOfReason(row),
      })),
    ]),
  );
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

if (import.meta.main) for (const [name, text] of renderPython()) writeFileSync(new URL(name, folder), text);
