"""The researcher: a LangGraph graph that reads one source after the other.

The graph's thread is the handoff, and each source is a step of it: killed in between, another process with the same
database reads on where this one stopped.
"""

import operator
import sqlite3
import sys
from typing import Annotated

import handfast
from handfast import Client
from handfast.langgraph import serve_graph
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

SOURCES = ["IERS, Bulletin C", "Qantas, 1 July 2012", "Cloudflare, 1 January 2017", "CGPM, resolution 4 of 2022"]

# A script in place of a model: put yours here.
model = FakeListChatModel(
    responses=[
        "Twenty-seven of them were put in since 1972, the last on 31 December 2016.",
        "The one of June 2012 kept Linux servers spinning, and an airline's passengers queueing at its desks.",
        "The one of New Year 2017 broke a DNS service: its clock went back, and a time span came out negative.",
        "In 2022 the world's metrologists decided to let clocks and sun drift apart, by 2035 at the latest.",
    ]
)


class Fact(TypedDict):
    claim: str
    source: str


class Topic(TypedDict):
    topic: str


class Research(TypedDict, total=False):
    topic: str
    facts: Annotated[list[Fact], operator.add]


def read(state: Research) -> Research:
    done = len(state["facts"])
    source = SOURCES[done]
    handfast.current().progress(done / len(SOURCES), f"reading {source}")
    claim = model.invoke(f"What does {source} say about {state['topic']}? One sentence.").text
    return {"facts": [{"claim": claim, "source": source}]}


def has_more(state: Research) -> str:
    return "read" if len(state["facts"]) < len(SOURCES) else END


graph = StateGraph(Research)
graph.add_node("read", read)
graph.add_edge(START, "read")
graph.add_conditional_edges("read", has_more, ["read", END])

threads = SqliteSaver(sqlite3.connect("researcher.db", check_same_thread=False))
server = serve_graph(
    Client(agent="researcher"),
    "research",
    graph.compile(checkpointer=threads),
    description="Finds facts about a topic, each with its source.",
    input=Topic,
    output=list[Fact],
    graph_output="facts",
    tags=["langgraph"],
    worker=sys.argv[1],
)
print("ready", flush=True)
server.stopped()
