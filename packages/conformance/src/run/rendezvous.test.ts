import { describe, expect, it } from "vitest";
import { Rendezvous } from "./rendezvous.ts";

describe("a restart that many wait for", () => {
  it("happens once, when all that still run are waiting", async () => {
    let restarts = 0;
    const rendezvous = new Rendezvous(async () => {
      restarts += 1;
    });
    for (let n = 0; n < 3; n += 1) rendezvous.join();
    const first = rendezvous.meet();
    const second = rendezvous.meet();
    await Promise.resolve();
    expect(restarts).toBe(0);
    rendezvous.leave();
    await Promise.all([first, second]);
    expect(restarts).toBe(1);
  });

  it("happens again for those that wait again", async () => {
    let restarts = 0;
    const rendezvous = new Rendezvous(async () => {
      restarts += 1;
    });
    rendezvous.join();
    await rendezvous.meet();
    await rendezvous.meet();
    expect(restarts).toBe(2);
  });

  it("that fails is told to everybody who waits", async () => {
    const rendezvous = new Rendezvous(() => Promise.reject(new Error("it does not start")));
    rendezvous.join();
    rendezvous.join();
    const told = await Promise.allSettled([rendezvous.meet(), rendezvous.meet()]);
    expect(told.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});
