// Writes packages/protocol/src/status-codes.ts from spec/status-codes.json: node scripts/generate-status-codes.ts
import { readFileSync, writeFileSync } from "node:fs";

const source = new URL("../spec/status-codes.json", import.meta.url);
const target = new URL("../packages/protocol/src/status-codes.ts", import.meta.url);

interface Row {
  code: number;
  name: string;
  title: string;
  mended_by: "asker" | "agent" | "operator" | "nobody";
  retryable: boolean;
  meaning: string;
}

const head = `// The status codes. Generated from spec/status-codes.json by scripts/generate-status-codes.ts: change the table, not this.
`;

const tail = `
export type StatusCode = (typeof statusCodes)[number]["code"];
export type StatusName = (typeof statusCodes)[number]["name"];
export interface Status {
  readonly code: StatusCode;
  readonly name: StatusName;
  readonly title: string;
  readonly mended_by: "asker" | "agent" | "operator" | "nobody";
  /** True when the same request, unchanged, may succeed later. */
  readonly retryable: boolean;
  readonly meaning: string;
}

const byCode: ReadonlyMap<number, Status> = new Map(statusCodes.map((status) => [status.code, status]));

/** The row of a known code; undefined for any other number. */
export function statusCode(code: StatusCode): Status;
export function statusCode(code: number): Status | undefined;
export function statusCode(code: number): Status | undefined {
  return byCode.get(code);
}
`;

function renderRow(row: Row): string {
  const members = Object.entries(row).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},\n`);
  return `  {\n${members.join("")}  },\n`;
}

/** The text that status-codes.ts must have now; its test compares. */
export function renderStatusCodes(): string {
  const rows: Row[] = JSON.parse(readFileSync(source, "utf8"));
  return `${head}\nexport const statusCodes = [\n${rows.map(renderRow).join("")}] as const;\n${tail}`;
}

if (import.meta.main) writeFileSync(target, renderStatusCodes());
