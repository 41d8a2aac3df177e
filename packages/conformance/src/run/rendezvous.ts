/**
 * One restart for many checks: each does what comes before it and waits; when all that still run are waiting, the relay is
 * killed and started once, and all go on. Whoever wants another restart waits again.
 */

export class Rendezvous {
  readonly #restart: () => Promise<void>;
  #running = 0;
  #waiting: PromiseWithResolvers<void>[] = [];

  constructor(restart: () => Promise<void>) {
    this.#restart = restart;
  }

  join(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    this.#restartIfAllWait();
  }

  meet(): Promise<void> {
    const place = Promise.withResolvers<void>();
    this.#waiting.push(place);
    this.#restartIfAllWait();
    return place.promise;
  }

  #restartIfAllWait(): void {
    if (this.#waiting.length === 0 || this.#waiting.length < this.#running) return;
    const places = this.#waiting;
    this.#waiting = [];
    this.#restart().then(
      () => {
        for (const { resolve } of places) resolve();
      },
      (error: unknown) => {
        for (const { reject } of places) reject(error);
      },
    );
  }
}
