/**
 * Rows as columns: one array for each, written as PostgreSQL's own text, so that a statement takes any number of rows by
 * `unnest` and is prepared once.
 */

type ColumnType = "text" | "bigint" | "integer" | "float8" | "boolean" | "jsonb" | "bytea";
/** The columns of rows given to a statement, in order. */
export type Shape = Readonly<Record<string, ColumnType>>;
export type Cell = string | number | boolean | Uint8Array | null;

/** Rows of one shape, gathered. */
export class Rows<Of extends Shape> {
  readonly #columns: string[][];
  readonly #names: readonly (keyof Of)[];

  constructor(shape: Of) {
    this.#names = Object.keys(shape);
    this.#columns = this.#names.map(() => []);
  }

  get size(): number {
    return this.#columns[0]?.length ?? 0;
  }

  add(row: { readonly [Name in keyof Of]: Cell }): void {
    for (const [place, name] of this.#names.entries()) this.#columns[place]?.push(literal(row[name]));
  }

  /** One parameter for each column. */
  parameters(): string[] {
    return this.#columns.map((cells) => `{${cells.join(",")}}`);
  }
}

/** Where a statement takes rows of this shape from. */
export function given(shape: Shape): string {
  const arrays = Object.values(shape).map((type, place) => `$${place + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")}) WITH ORDINALITY AS given (${Object.keys(shape).join(", ")}, place)`;
}

/** An array of texts as a parameter. */
export function textArray(values: readonly string[]): string {
  return `{${values.map(quoted).join(",")}}`;
}

function literal(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell === "string") return quoted(cell);
  if (typeof cell === "boolean") return cell ? "t" : "f";
  if (typeof cell === "number") return String(cell);
  return `"\\\\x${Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString("hex")}"`;
}

/** What JSON writes otherwise than an array does. */
const unlike_json = /\p{Cc}/u;

/** Quotes and backslashes are escaped as in JSON, which the engine writes much faster than anything else does. */
function quoted(text: string): string {
  if (!unlike_json.test(text) && text.isWellFormed()) return JSON.stringify(text);
  return `"${withoutNul(text).replaceAll(/["\\]/g, "\\$&")}"`;
}

/** PostgreSQL has no text with U+0000 in it. Nothing that is stored by name has either; what is only asked for finds nothing. */
export function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}
