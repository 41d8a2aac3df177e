/** One at the human desk: looks at what is asked of the desk, and answers it. */

import type { Random } from "../random.ts";
import { desk } from "../world/directory.ts";
import { answerQuestion } from "./answering.ts";
import { Process } from "./process.ts";
import type { World } from "./world.ts";

export class Desk extends Process {
  readonly #world: World;
  readonly #random: Random;
  readonly #name: string;

  constructor(world: World, name: string) {
    const random = world.random.fork();
    super(world.timeline, random, world.coverage);
    this.#world = world;
    this.#random = random;
    this.#name = name;
  }

  async run(): Promise<void> {
    const { api } = this.#world;
    for (;;) {
      await this.sleep(this.#random.between(2_000, 15_000));
      const asked = await this.persist("list", 5, () => api.list(this.#name, { question_to: [desk] }));
      for (const handoff of asked ?? []) {
        await answerQuestion(this.#world, this, this.#random, this.#name, [desk], handoff);
      }
    }
  }
}
