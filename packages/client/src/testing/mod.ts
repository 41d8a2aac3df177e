/** `@handfast/client/testing`: a relay in the test's own process, with a clock that the test rules. */

export {
  type Behaviour,
  crash,
  type FailOptions,
  type FakeHandler,
  fail,
  hang,
  reject,
  type Step,
} from "./behaviour.ts";
export type { Fake, FakeOptions, Received } from "./fake.ts";
export {
  type DisconnectOptions,
  type RestartOptions,
  type TestRelay,
  type TestRelayOptions,
  testRelay,
} from "./test-relay.ts";
export type { UntilOptions } from "./virtual-time.ts";
