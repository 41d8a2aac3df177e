/** The inspecting commands: what became of handoffs, why, and what to do about it. */

import type { Command } from "../command.ts";
import { answerCommand } from "./commands/answer.ts";
import { cancelCommand } from "./commands/cancel.ts";
import { deadCommand } from "./commands/dead.ts";
import { listCommand } from "./commands/list.ts";
import { logCommand } from "./commands/log.ts";
import { outcomesCommand } from "./commands/outcomes.ts";
import { questionsCommand } from "./commands/questions.ts";
import { showCommand } from "./commands/show.ts";
import { treeCommand } from "./commands/tree.ts";
import { watchCommand } from "./commands/watch.ts";
import { whyCommand } from "./commands/why.ts";

export const inspectCommands: readonly Command[] = [
  listCommand,
  showCommand,
  whyCommand,
  watchCommand,
  treeCommand,
  questionsCommand,
  answerCommand,
  outcomesCommand,
  cancelCommand,
  deadCommand,
  logCommand,
];
