/** Whether a run reached what it should: a fuzzer whose every input is turned away at the door shows nothing. */

import { operations } from "../../../packages/relay/src/operations/table.ts";
import type { Tally } from "./tally.ts";

/** Nothing about them can be refused but what every call is refused for. */
const least = { done: 1, refused: 1 };
const states_least = 13;
/** The relay under fire is alone with its store, and no node among others: these it can only refuse. */
const of_several_nodes: ReadonlySet<string> = new Set(["drain_node", "undrain_node"]);

export function coverageGaps({ operations: seen, states, kinds }: Tally): readonly string[] {
  const gaps = operations.flatMap(({ name }) => {
    const { done, refused } = seen.get(name) ?? { done: 0, refused: 0 };
    return [
      ...(done < least.done && !of_several_nodes.has(name) ? [`the operation ${name} was never done`] : []),
      ...(refused < least.refused ? [`the operation ${name} was never refused`] : []),
    ];
  });
  if (states.size < states_least) gaps.push(`only these states were made: ${[...states.keys()].join(", ")}`);
  if (kinds.size < 5) gaps.push(`only these kinds of input were sent: ${[...kinds.keys()].join(", ")}`);
  return gaps;
}
