/**
 * A sender whose handoffs are nodes of LangGraph graphs: a thread for each, asleep until it has its outcome. The suite
 * names a capability with every command, and a graph has its own: so there is a graph for each, with a name that a new
 * life finds in the labels of what the last one sent.
 */

import { connect } from "@handfast/client";
import { addHandoff, type Outcome, resumeOutcomes } from "@handfast/langgraph";
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import { sqliteSaver } from "../../adapters/langgraph/src/testing/sqlite-saver.ts";
import type { SendCommand, TaskInput } from "../protocol.ts";
import { tell } from "./lines.ts";
import { Sender } from "./sender.ts";

interface Terms {
  readonly kind: "one" | "many";
  readonly capability: string;
  readonly timeout?: number;
  readonly lease?: number;
  readonly correlation?: string;
}

const One = Annotation.Root({ tag: Annotation<string>, input: Annotation<TaskInput>, report: Annotation<Outcome> });

type Report = readonly [number, Outcome];
const reports = Annotation<Report[]>({ reducer: (left, right) => [...left, ...right], default: () => [] });
const Part = Annotation.Root({
  at: Annotation<number>,
  input: Annotation<TaskInput>,
  report: Annotation<Outcome>,
  reports,
});
const Many = Annotation.Root({ tag: Annotation<string>, inputs: Annotation<readonly TaskInput[]>, reports });

const checkpointer = sqliteSaver("threads.db");

class GraphSender extends Sender {
  readonly #graphs = new Map<string, ReturnType<GraphSender["make"]>>();
  readonly #ended = new Map<string, (values: readonly Report[]) => void>();

  override async handOff({ tag, capability, input, timeout_ms, lease_ms }: SendCommand): Promise<void> {
    const lease = lease_ms === undefined ? {} : { lease: lease_ms };
    const graph = this.#graph({ kind: "one", capability, timeout: timeout_ms, ...lease });
    const ended = new Promise((resolve) => this.#ended.set(tag, resolve));
    const values = await graph.invoke({ tag, input }, threadOf(tag));
    const [paused] = values.__interrupt__ ?? [];
    // Where it had ended before the thread could sleep, the graph went on at once.
    const id = paused?.value.handfast.handoff ?? values.report?.handoff;
    if (id != null) this.sent(tag, id);
    await ended;
  }

  override async scatter(tag: string, capability: string, inputs: readonly TaskInput[]): Promise<readonly unknown[]> {
    const ended = new Promise<readonly Report[]>((resolve) => this.#ended.set(tag, resolve));
    await this.#graph({ kind: "many", capability, correlation: tag }).invoke({ tag, inputs }, threadOf(tag));
    const outputs = new Map(
      (await ended).map(([at, report]) => [at, report.status === "completed" ? report.output : null]),
    );
    return inputs.map((_, at) => outputs.get(at));
  }

  /** Every graph of which a thread may still sleep goes on; the rest follows by itself. */
  override async resume(): Promise<void> {
    for (const { labels } of await this.unfinished()) {
      const name = labels["langgraph.graph"];
      if (name !== undefined) this.#graph(JSON.parse(name));
    }
  }

  override async isOf(tag: string, id: string): Promise<boolean> {
    return (await this.hf.handle(id).status()).labels["langgraph.thread"] === tag;
  }

  #graph(terms: Terms) {
    const name = JSON.stringify(terms);
    const graph = this.#graphs.get(name) ?? this.make(name, terms);
    this.#graphs.set(name, graph);
    return graph;
  }

  make(name: string, terms: Terms) {
    const graph = terms.kind === "one" ? this.#one(name, terms) : this.#many(name, terms);
    resumeOutcomes(this.hf, graph, {
      graph: name,
      onError: (error, { handoff }) => tell({ tag: handoff, broken: String(error) }),
    });
    return graph as {
      invoke(
        input: object,
        config: object,
      ): Promise<{ __interrupt__?: { value: { handfast: { handoff: string } } }[]; report?: Outcome }>;
    };
  }

  #one(name: string, { kind: _, ...terms }: Terms) {
    const options = {
      hf: this.hf,
      graph: name,
      input: ({ input }: typeof One.State) => input,
      output: "report" as const,
    };
    return addHandoff(new StateGraph(One), "hand_off", { ...options, ...terms })
      .addNode("tell", ({ tag, report }) => {
        if (report.status === "refused") tell({ tag, refused: report.code });
        else this.ended(tag, report.status, report.code, report.status === "completed" ? report.output : null);
        this.#ended.get(tag)?.([]);
        return {};
      })
      .addEdge(START, "hand_off")
      .addEdge("hand_off_outcome", "tell")
      .addEdge("tell", END)
      .compile({ checkpointer });
  }

  #many(name: string, { kind: _, ...terms }: Terms) {
    const options = {
      hf: this.hf,
      graph: name,
      input: ({ input }: typeof Part.State) => input,
      output: "report" as const,
    };
    const part = addHandoff(new StateGraph(Part), "hand_off", { ...options, ...terms })
      .addNode("keep", ({ at, report }) => ({ reports: [[at, report] satisfies Report] }))
      .addEdge(START, "hand_off")
      .addEdge("hand_off_outcome", "keep")
      .addEdge("keep", END)
      .compile();
    return new StateGraph(Many)
      .addNode("part", part)
      .addNode("end", ({ tag, reports: all }) => {
        this.#ended.get(tag)?.(all);
        return {};
      })
      .addConditionalEdges(START, ({ inputs }) => inputs.map((input, at) => new Send("part", { at, input })), ["part"])
      .addEdge("part", "end")
      .addEdge("end", END)
      .compile({ checkpointer });
  }
}

function threadOf(id: string): object {
  return { configurable: { thread_id: id }, durability: "sync" };
}

await new GraphSender(await connect()).run();
process.exit(0);
