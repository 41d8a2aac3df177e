/** Which dead letters are meant: the same options for listing and for redriving many. */

import type { Operations } from "@handfast/protocol/wire";
import type { CommandOption } from "../../command.ts";
import type { Options } from "../../options.ts";

export type DeadFilter = Omit<Operations["dead_letters"]["query"], "limit" | "cursor">;

const statuses = ["open", "redriven", "discarded", "any"] as const;

export const filterOptions: readonly CommandOption[] = [
  { flags: "--code <code>", help: "Only those that ended with this code, such as 408." },
  { flags: "--capability <name>", help: "Only those for this capability." },
  { flags: "--to <agent>", help: "Only those addressed to this agent." },
  { flags: "--from <agent>", help: "Only those of this sender." },
  { flags: "--correlation <id>", help: "Only those of this correlation." },
  { flags: "--older <duration>", help: "Only those accepted at least so long ago." },
  { flags: "--younger <duration>", help: "Only those accepted at most so long ago." },
];

export const statusOption: CommandOption = {
  flags: "--status <status>",
  help: "open, redriven, discarded or any.",
  choices: statuses,
  default: "open",
};

export function readFilter(options: Options): DeadFilter {
  const status = statuses.find((each) => each === options.text("status"));
  const code = options.number("code", 200, 599);
  const capability = options.text("capability");
  const to = options.text("to");
  const from = options.text("from");
  const correlation_id = options.text("correlation");
  const older_than_ms = options.duration("older");
  const younger_than_ms = options.duration("younger");
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(capability === undefined ? {} : { capability }),
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
    ...(correlation_id === undefined ? {} : { correlation_id }),
    ...(older_than_ms === undefined ? {} : { older_than_ms }),
    ...(younger_than_ms === undefined ? {} : { younger_than_ms }),
  };
}
