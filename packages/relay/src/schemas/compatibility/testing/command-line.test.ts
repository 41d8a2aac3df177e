import { expect, it } from "vitest";
import { readCommandLine, UsageError } from "./command-line.ts";

it("takes a number of samples and a seed", () => {
  expect(readCommandLine(["--samples", "5000", "--seed", "7"])).toEqual({ kind: "run", samples: 5_000, seed: 7 });
});

it("draws a seed where none is named", () => {
  expect(readCommandLine([])).toMatchObject({ kind: "run", samples: 100_000, seed: expect.any(Number) });
});

it("explains itself", () => expect(readCommandLine(["--help", "--seed", "7"])).toEqual({ kind: "help" }));

it.each([[["--pairs", "5"]], [["5"]], [["--samples", "0"]], [["--samples", "many"]], [["--seed", "-1"]], [["--seed"]]])(
  "refuses %j",
  (args) => expect(() => readCommandLine(args)).toThrow(UsageError),
);
