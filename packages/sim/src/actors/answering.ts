/** Answering an open question, as its sender or as a desk: in time, too late, twice, or not at all. */

import type { Handoff, Question } from "@handfast/core";
import type { Random } from "../random.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

export function openQuestion({ status, questions }: Handoff): Question | undefined {
  const question = status.state === "waiting" ? questions.find(({ id }) => id === status.question) : undefined;
  return question?.resolution === null ? question : undefined;
}

/** `offers`: the capabilities of the one that answers. */
export async function answerQuestion(
  world: World,
  process: Process,
  random: Random,
  agent: string,
  offers: readonly string[],
  handoff: Handoff,
): Promise<void> {
  const { api, faults } = world;
  const question = openQuestion(handoff);
  await process.sleep(random.between(50, 3_000));
  if (question === undefined || random.chance(faults().no_answer)) return;
  const body = { kind: "answer", document: '{"typ":"answer"}', proof: null, payload: null } as const;
  const say = (text: string) => {
    const answer = { media_type: "text/plain", size: 2, salt: "", sha256: text };
    const actor = { kind: "agent", agent } as const;
    const rest = { question: question.id, content: text, answer, evidence: "attested", offers } as const;
    return process.persist("answer", 6, () =>
      api.perform(agent, handoff.accepted.id, { type: "answer", actor, ...rest }, { body, artifacts: [] }),
    );
  };
  await say(`answer of ${agent} to ${question.id}`);
  if (random.chance(0.1)) await say(`answer of ${agent} to ${question.id}, on second thoughts`);
}
