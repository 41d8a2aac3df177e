import { expect, test } from "vitest";
import { Answers, Missing, planned } from "./reading.ts";

test("what is missing is read, once, and the plan made again", async () => {
  const answers = new Answers<number>();
  const asked: string[] = [];
  let plans = 0;
  const look = (question: string) =>
    answers.get(question, async () => {
      asked.push(question);
      return question.length;
    });
  const sum = await planned(() => {
    plans += 1;
    return look("one") + look("three") + look("one");
  });
  expect(sum).toBe(11);
  expect(asked).toEqual(["one", "three"]);
  expect(plans).toBe(3);
});

test("a question that failed fails where its answer is looked at, so that a plan can live with it", async () => {
  const answers = new Answers<number>();
  const look = () => answers.get("lost", () => Promise.reject(new Error("no such page")));
  await expect(planned(look)).rejects.toThrow("no such page");
  const lived = await planned(() => {
    try {
      return look();
    } catch (error) {
      if (error instanceof Missing) throw error;
      return -1;
    }
  });
  expect(lived).toBe(-1);
});

test("a plan that asks for ever new things is given up", async () => {
  const answers = new Answers<number>();
  let asked = 0;
  const endless = () => {
    asked += 1;
    return answers.get(`question ${asked}`, async () => asked);
  };
  await expect(planned(endless)).rejects.toThrow(/not done after/);
});
