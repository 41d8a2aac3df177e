/**
 * The editor: a LangGraph graph (JavaScript) whose steps are handoffs. It is given an article to make, gives its parts to
 * whoever offers them, in whatever framework, and answers what they ask.
 */

import { argv, stdout } from "node:process";
import { connect, Fail } from "@handfast/client";
import { addHandoff, type Outcome, serveGraph } from "@handfast/langgraph";
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";

interface Fact {
  readonly claim: string;
  readonly source: string;
}
interface Draft {
  readonly title: string;
  readonly text: string;
}
interface Verdict {
  readonly approved: boolean;
  readonly wishes: readonly string[];
}

const Article = Annotation.Root({
  topic: Annotation<string>,
  readers: Annotation<string>,
  facts: Annotation<readonly Fact[]>,
  drafts: Annotation<readonly Draft[]>({ default: () => [], reducer: (old, more) => [...old, ...more] }),
  verdict: Annotation<Verdict>({ default: () => ({ approved: false, wishes: [] }), reducer: (_, newer) => newer }),
  published: Annotation<{ readonly file: string }>,
});
const most_drafts = 2;

/** An outcome is a value, however it ended; without this one there is no article. */
function done<Output>(outcome: Outcome): Output {
  if (outcome.status === "completed") return outcome.output as Output;
  throw new Fail(`${outcome.code} ${outcome.name}: ${outcome.error.message}`, { reason: outcome.error.reason });
}

const hf = await connect({ agent: "editor" });
const builder = new StateGraph(Article);
const research = addHandoff(builder, "research", {
  capability: "research",
  input: ({ topic }) => ({ topic }),
  output: (outcome) => ({ facts: done<Fact[]>(outcome) }),
});
const draft = addHandoff(research, "draft", {
  capability: "draft",
  input: ({ topic, facts, verdict: { wishes } }) => ({ topic, facts, wishes }),
  output: (outcome) => ({ drafts: [done<Draft>(outcome)] }),
  // A writer that is silent for so long is taken for dead, and another goes on.
  lease: "5s",
});
const review = addHandoff(draft, "review", {
  capability: "review",
  input: ({ drafts, facts }) => ({ draft: drafts.at(-1), facts }),
  output: (outcome) => ({ verdict: done<Verdict>(outcome) }),
});
const publish = addHandoff(review, "publish", {
  capability: "publish",
  input: ({ drafts }) => drafts.at(-1),
  output: (outcome) => ({ published: done<{ file: string }>(outcome) }),
});
const graph = publish
  .addEdge(START, "research")
  .addEdge("research_outcome", "draft")
  .addEdge("draft_outcome", "review")
  .addConditionalEdges("review_outcome", ({ verdict, drafts }) =>
    verdict.approved || drafts.length === most_drafts ? "publish" : "draft",
  )
  .addEdge("publish_outcome", END)
  .compile({ checkpointer: new MemorySaver() });

await serveGraph(
  hf,
  "article",
  graph,
  { graphOutput: "published", tags: ["langgraph-js"] },
  { worker: argv[2] ?? "editor-1" },
);
stdout.write("ready\n");

// What is asked is asked about a part of an article. That article's thread has the handoff's name, and knows its readers.
for await (const question of hf.questions()) {
  const { causation } = await hf.handle(question.handoff).status();
  const { values } = await graph.getState({ configurable: { thread_id: causation?.id } });
  await hf.answer(question, values["readers"]);
}
