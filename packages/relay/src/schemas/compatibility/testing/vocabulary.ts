/** Few names, strings and numbers, so that what one schema says often matters to the other. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type JsonObject = { readonly [name: string]: Json };

export const names = ["a", "b", "c", "x-a", "", "constructor", "__proto__"] as const;
export const strings = ["", "a", "b", "ab", "abc", "x-a", "0", "\u{1f600}", "\u{1f600}a"] as const;
export const numbers = [0, 1, 2, 3, -1, 5, 0.5, 1.5, 6, 10, -0, 9_007_199_254_740_991, 1e21, 5e-324] as const;
export const bounds = [0, 1, 2, 3, -1, 5, 0.5, 1.5, 10, 9_007_199_254_740_991] as const;
export const divisors = [1, 2, 3, 6, 0.5, 0.1, 1.5] as const;
export const patterns = ["^a", "^[a-z]+$", "^[a-c]+$", "b$", "^x-", "^.{2}$", "^(a|b)c?$"] as const;
export const types = ["string", "integer", "number", "null", "boolean", "array", "object"] as const;

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
