/** One thing that `handfast doctor` looked at. */

import type { ExitName } from "../exit-codes.ts";

export type Check =
  | { readonly about: string; readonly ok: true; readonly found: string }
  | {
      readonly about: string;
      readonly ok: false;
      readonly found: string;
      readonly remedy: string;
      /** How the command ends because of it. */
      readonly exit: ExitName;
    };

export function ok(about: string, found: string): Check {
  return { about, ok: true, found };
}

export function problem(about: string, found: string, remedy: string, exit: ExitName): Check {
  return { about, ok: false, found, remedy, exit };
}
