/** The few styles that messages and tables use. */

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof codes;

export function paint(style: Style, text: string): string {
  const [on, off] = codes[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}
