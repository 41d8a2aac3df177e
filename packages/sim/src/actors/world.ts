/** What every actor of a simulation can reach. */

import type { Duration, Handoff } from "@handfast/core";
import type { Coverage } from "../coverage/coverage.ts";
import type { Random } from "../random.ts";
import type { Tally } from "../run/tally.ts";
import type { Faults } from "../scenario/faults.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Directory } from "../world/directory.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Api } from "./api.ts";
import type { Drafts } from "./drafts.ts";
import type { Streams } from "./streams.ts";

export interface World {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly directory: Directory;
  readonly drafts: Drafts;
  readonly api: Api;
  readonly streams: Streams;
  readonly tally: Tally;
  readonly coverage: Coverage;
  readonly faults: () => Faults;
  /** No more faults: everyone is honest now, and nothing new is begun. */
  readonly healed: () => boolean;
  /** Someone must look after what this agent sent. */
  readonly watch: (from: string, id: string) => void;
  /** How long this one works, when nothing goes wrong. */
  readonly workTime: () => Duration;
  /** Any handoff that was ever accepted, for those who meddle; null: none yet. */
  readonly anyHandoff: (random: Random) => Handoff | null;
}
