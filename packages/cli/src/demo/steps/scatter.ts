/** Ten sub-tasks out, ten answers back, each matched to its task. */

import { must, type Step } from "../step.ts";

const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

export const scatter: Step = {
  name: "scatter",
  title: "Ten sub-tasks scattered, ten answers gathered",
  async run({ client }, show) {
    const group = client.scatter<number>(numbers.map((input) => ({ capability: "square", input, timeout: "10s" })));
    const squares = await group.all();
    const { summary } = await client.call("correlation", { params: { id: group.correlation } });
    show.line(`out:  ${numbers.join(" ")}`);
    show.line(
      `back: ${squares.join(" ")}   (${summary.by_state["completed"]} of ${summary.total} completed, one correlation)`,
    );
    must(summary.total === numbers.length, "ten handoffs share the correlation");
    must(
      squares.every((square, i) => square === (numbers[i] ?? 0) ** 2),
      "every answer is matched to its task",
    );
  },
};
