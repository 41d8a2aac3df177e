import { setImmediate } from "node:timers/promises";
import { realSurroundings } from "@handfast/engine";
import { describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { ReplyRoom } from "./reply-room.ts";
import type { Release } from "./room-account.ts";

const small = 1_000;
const large = 1_000_000;
const few = { ...limits, pages_in_flight: 2, pages_per_caller: 1, output_bytes: 4 * large };

/** A room, and who has begun in it. */
function roomOf(some: Partial<typeof limits> | Record<string, number> = {}) {
  const room = new ReplyRoom({ ...few, ...some }, realSurroundings());
  const begun: string[] = [];
  const releases = new Map<string, Release>();
  const refused: string[] = [];
  const enter = (caller: string, bytes: number, outlet = { bytes: 0 }, name = caller) => {
    const entered = async () => room.enter(caller, outlet, bytes);
    entered().then(
      (release) => {
        begun.push(name);
        releases.set(name, release);
      },
      () => refused.push(name),
    );
    return outlet;
  };
  return { room, begun, refused, enter, end: (name: string) => releases.get(name)?.() };
}

const rest = async () => {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
};

describe("room for answers", () => {
  it("is given to large ones a few at a time, in turn over their callers", async () => {
    const { begun, enter, end } = roomOf();
    for (const name of ["a1", "a2", "a3"]) enter("a", large, { bytes: 0 }, name);
    for (const name of ["b1", "b2"]) enter("b", large, { bytes: 0 }, name);
    enter("c", large, { bytes: 0 }, "c1");
    await rest();
    expect(begun).toEqual(["a1", "b1"]);
    for (const next of ["a2", "b2", "c1", "a3"]) {
      end(begun.at(-2) ?? "");
      await rest();
      expect(begun.at(-1)).toBe(next);
    }
  });

  it("is given to small ones at once, however many large ones wait", async () => {
    const { begun, enter } = roomOf();
    const outlet = { bytes: 0 };
    for (const name of ["a1", "a2", "a3"]) enter("a", large, outlet, name);
    enter("a", small, outlet, "small");
    enter("b", small);
    await rest();
    expect(begun).toEqual(["a1", "small", "b"]);
  });

  it("is not given where the peer has not taken what there is, until it does", async () => {
    const { room, begun, enter } = roomOf();
    const outlet = { bytes: limits.ws_output_bytes };
    enter("a", small, outlet);
    enter("b", small);
    await rest();
    expect(begun).toEqual(["b"]);
    outlet.bytes = 0;
    room.look();
    await rest();
    expect(begun).toEqual(["b", "a"]);
  });

  it("is not given to large ones while the relay holds too much for others, but is to small ones", async () => {
    const { room, begun, enter, end } = roomOf();
    const held = { bytes: 0 };
    enter("a", large, held);
    await rest();
    held.bytes = 5 * large;
    end("a");
    enter("b", large);
    enter("c", small);
    await rest();
    expect(begun).toEqual(["a", "c"]);
    room.leave(held);
    await rest();
    expect(begun).toEqual(["a", "c", "b"]);
  });

  it("is refused to whoever waits where nothing is taken any more, and to too many", async () => {
    const { room, begun, refused, enter } = roomOf({ replies_waiting_per_caller: 1 });
    enter("a", large, { bytes: 0 }, "a1");
    const outlet = enter("a", large, { bytes: 0 }, "a2");
    enter("a", large, { bytes: 0 }, "a3");
    await rest();
    expect(refused).toEqual(["a3"]);
    room.leave(outlet);
    enter("a", small, outlet, "late");
    await rest();
    expect(refused.sort()).toEqual(["a2", "a3", "late"]);
    expect(begun).toEqual(["a1"]);
  });
});
