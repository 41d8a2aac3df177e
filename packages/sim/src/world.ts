/** What every actor of a simulation can reach. */

import type { Duration } from "@handfast/core";
import type { Api } from "./api.ts";
import type { Directory } from "./directory.ts";
import type { Drafts } from "./drafts.ts";
import type { Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Tally } from "./tally.ts";
import type { Timeline } from "./timeline.ts";

export interface World {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly directory: Directory;
  readonly drafts: Drafts;
  readonly api: Api;
  readonly tally: Tally;
  readonly faults: () => Faults;
  /** No more faults: everyone is honest now, and nothing new is begun. */
  readonly healed: () => boolean;
  /** Someone must look after what this agent sent. */
  readonly watch: (from: string, id: string) => void;
  /** How long this one works, when nothing goes wrong. */
  readonly workTime: () => Duration;
}
