/** Cursors are opaque to callers; the letter keeps one list's cursor from being used on another. */

export type CursorKind = "event" | "list";

const letters = { event: "e", list: "l" } as const satisfies Record<CursorKind, string>;

export function makeCursor(kind: CursorKind, place: string | number): string {
  return Buffer.from(`${letters[kind]}${place}`).toString("base64url");
}

/** Null: not a cursor of this kind. */
export function readCursor(kind: CursorKind, cursor: string): string | null {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  return text.startsWith(letters[kind]) && makeCursor(kind, text.slice(1)) === cursor ? text.slice(1) : null;
}

/** Places in lists and in the log alike are positions. */
export function isPosition(text: string): boolean {
  return /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text));
}

/** The position that an event cursor stands for; null: not one. */
export function readPosition(cursor: string): number | null {
  const text = readCursor("event", cursor);
  return text === null || !isPosition(text) ? null : Number(text);
}
