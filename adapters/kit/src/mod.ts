// The public door of @handfast/adapter-kit.
export { checkFramework, type WantedFramework } from "./framework.ts";
export { type HandoffRequest, handOff } from "./hand-off.ts";
export { joined, Keys, shortKey } from "./keys.ts";
export {
  type CompletedOutcome,
  errorText,
  type FailedOutcome,
  type Outcome,
  outcomeOf,
  outcomeText,
  refusalAsOutcome,
} from "./outcome.ts";
export { inScope, type Scope, scopeNow } from "./scope.ts";
export { type HandoffToolOptions, sendOptionsOf, type ToolShape, targetOf, toolShapeOf } from "./tool-shape.ts";
export { inTurn, type Lock } from "./turns.ts";
export {
  type Sleepers,
  type WakeCall,
  type WakeOptions,
  type Waker,
  type Woken,
  wakeByOutcomes,
} from "./wake.ts";
