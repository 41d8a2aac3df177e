/** Every mutant. */

import { accepting } from "./accepting.ts";
import { agreeing } from "./agreeing.ts";
import { clocks } from "./clocks.ts";
import { delivering } from "./delivering.ts";
import { ending } from "./ending.ts";
import { stating } from "./manifests.ts";
import type { Mutant } from "./mutant.ts";
import { proving } from "./proving.ts";
import { routing } from "./routing.ts";
import { telling } from "./telling.ts";

export const mutants: readonly Mutant[] = [
  ...accepting,
  ...delivering,
  ...clocks,
  ...ending,
  ...telling,
  ...proving,
  ...agreeing,
  ...stating,
  ...routing,
];
