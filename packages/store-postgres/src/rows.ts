/** What columns of an answer hold: said where they are read. */

import { number, type Row, unexpectedColumn } from "@handfast/engine";

export { number, type Row, text, textOrNull } from "@handfast/engine";

export function numberOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}

export function truth(row: Row | undefined, column: string): boolean {
  const value = row?.[column];
  if (typeof value !== "boolean") throw unexpectedColumn(column, "true or false", value);
  return value;
}
