/** How a program of the suite hears and speaks: a JSON object a line. */

import { env, stdin, stdout } from "node:process";
import { createInterface } from "node:readline";

export function tell(message: object): void {
  stdout.write(`${JSON.stringify(message)}\n`);
}

/** Each command in turn; ends with the input. A command is not awaited before the next: most take their time. */
export async function* commands<Command>(): AsyncGenerator<Command> {
  for await (const line of createInterface({ input: stdin })) yield JSON.parse(line);
}

export function setting(name: string): string {
  const value = env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}
