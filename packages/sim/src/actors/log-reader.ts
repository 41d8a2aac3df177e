/** Reads the log from its beginning, page by page, through restarts and lost answers. */

import { Process } from "./process.ts";
import type { World } from "./world.ts";

export const logReader = "lena";

export class LogReader extends Process {
  readonly #world: World;
  #after_pos = 0;

  constructor(world: World) {
    super(world.timeline, world.random.fork(), world.coverage);
    this.#world = world;
  }

  async run(): Promise<void> {
    const { api, healed } = this.#world;
    while (!healed()) {
      await this.sleep(2_000);
      const page = await this.persist("read", 20, () => api.log(logReader, this.#after_pos));
      this.#after_pos = page?.events.at(-1)?.pos ?? this.#after_pos;
    }
  }
}
