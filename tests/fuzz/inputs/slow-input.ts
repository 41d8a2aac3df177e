/** Half a request, and then silence. */

import { makeCall } from "../calls/make-call.ts";
import { sealBody } from "../calls/seal.ts";
import { Mutations } from "../mutate/mutation.ts";
import { HttpWire } from "../wire/http-wire.ts";
import { draft, render } from "./http-draft.ts";
import { httpInput } from "./http-input.ts";
import { someAddress } from "./stage.ts";
import type { Input } from "./step.ts";

export const slowInput: Input = async (step) => {
  const { stage, scene, random } = step;
  // Only so many at a time: the others come to an end as quickly as any.
  if (stage.slow.isFull) return httpInput(step);
  const call = await makeCall(
    scene,
    random,
    random.pick(["submit", "claim", "checkpoint", "put_artifact", "register"]),
  );
  const body = await sealBody(call, Mutations.none(random), scene, random);
  const headers = [
    ["host", `127.0.0.1:${stage.port}`],
    ["authorization", `Bearer ${await call.persona.credential()}`],
    ["content-type", "application/json"],
  ] as const;
  const target = call.operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => call.params[name] ?? "");
  const whole = render(draft(call.operation.method, target, headers, call.bytes ?? Buffer.from(JSON.stringify(body))));
  const bytes = whole.subarray(0, random.between(1, whole.length - 1));
  const wire = await HttpWire.open(stage.port, someAddress(stage, random));
  wire.write(bytes);
  stage.slow.begin(wire, bytes);
  stage.tally.bytes += bytes.length;
  return { fault: null, mutations: 0, done: ["half a request"], persona: call.persona.name, bytes };
};
