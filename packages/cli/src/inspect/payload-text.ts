/** Payloads as text: on one line and shortened, or whole. What could steer a terminal is removed. */

import { cleanLine, cleanText, cut } from "../text.ts";
import type { Look } from "./look.ts";

interface Forms {
  readonly input?: unknown;
  readonly output?: unknown;
  readonly text?: string;
  readonly base64?: string;
}

type Size = Pick<Look, "full" | "width">;

/** Null: the bytes are not there (never given, or dropped by retention). */
export function payloadText(forms: Forms, size: Size): string | null {
  const value = forms.input ?? forms.output;
  if (forms.text !== undefined)
    return size.full ? cleanText(forms.text) : shorten(JSON.stringify(forms.text), size.width);
  if (value !== undefined) return valueText(value, size);
  if (forms.base64 !== undefined) return size.full ? forms.base64 : shorten(`base64 ${forms.base64}`, size.width);
  return null;
}

/** Any JSON on one line, or whole on as many as it takes. */
export function valueText(value: unknown, { full, width }: Size): string {
  return full ? cleanText(JSON.stringify(value, null, 2)) : shorten(JSON.stringify(value), width);
}

/** One line of at most so many characters. Cut first: a payload may be a megabyte, and cleaning reads every letter. */
export function shorten(text: string, width: number): string {
  return cut(cleanLine(text.slice(0, 4 * width + 4)), width);
}
