/** The simulator's public door. */

export { runSeeds, type SeedsOptions, type SeedsResult } from "./run-seeds.ts";
export { type Mistake, type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
