"""Types of what a relay answers, as on the wire: see spec/wire.md. Fields that are not known here may come too.

Written by scripts/generate-python.ts from the schemas of the protocol: change those, not this.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from typing_extensions import NotRequired, TypedDict

PayloadDigest = TypedDict(
    "PayloadDigest",
    {
        "media_type": str,
        "size": int,
        "salt": str,
        "sha256": str,
    },
)

ArtifactReference = TypedDict(
    "ArtifactReference",
    {
        "sha256": str,
        "size": int,
        "media_type": str,
        "name": NotRequired[str],
    },
)

OutcomeView = TypedDict(
    "OutcomeView",
    {
        "code": int,
        "name": str,
        "fence": Union[int, None],
        "agent": Union[str, None],
        "worker": Union[str, None],
        "evidence": Literal["signed", "attested", "relay"],
        # The payload, where it is JSON.
        "output": NotRequired[Any],
        # The payload, where it is text.
        "text": NotRequired[str],
        # The payload, where it is neither.
        "base64": NotRequired[str],
        "payload": Union[PayloadDigest, None],
        "artifacts": list[str],
        "error": Union[dict[str, Any], None],
        # Of a failure: whether the agent thinks that a retry helps.
        "retryable": NotRequired[bool],
        "usage": Union[dict[str, Any], None],
    },
)

ProgressView = TypedDict(
    "ProgressView",
    {
        "fraction": Union[float, None],
        "note": Union[str, None],
        # Milliseconds since 1970 by the relay's clock.
        "at": int,
    },
)

LeaseHolderView = TypedDict(
    "LeaseHolderView",
    {
        "agent": str,
        "worker": str,
        "fence": int,
        # Milliseconds since 1970 by the relay's clock.
        "delivered_at": int,
        "acknowledged_at": Union[int, None],
        # Milliseconds since 1970 by the relay's clock.
        "beat_at": int,
        # When it is lost without another heartbeat, at the earliest: after a restart of the relay it gets more.
        "lease_until": int,
        "attempt_until": Union[int, None],
    },
)

FailureView = TypedDict(
    "FailureView",
    {
        "fence": int,
        "agent": str,
        "worker": str,
        # Milliseconds since 1970 by the relay's clock.
        "at": int,
        "code": int,
        "name": str,
        "error": dict[str, Any],
    },
)

LimitsView = TypedDict(
    "LimitsView",
    {
        "deadline_ms": int,
        "queue_ms": int,
        "ack_ms": int,
        "lease_ms": int,
        "attempt_ms": Union[int, None],
        "max_attempts": int,
        "max_deliveries": int,
        "retry": Literal["attempts", "until_ack"],
    },
)

OpenQuestionView = TypedDict(
    "OpenQuestionView",
    {
        "id": str,
        "fence": int,
        # Milliseconds since 1970 by the relay's clock.
        "asked_at": int,
        # Milliseconds since 1970 by the relay's clock.
        "answer_by": int,
        "to": Union[str, None],
        "parked": bool,
    },
)

DeadLetterStatus = TypedDict(
    "DeadLetterStatus",
    {
        "status": Literal["open", "redriven", "discarded"],
        "id": NotRequired[str],
        "by": NotRequired[str],
        # Milliseconds since 1970 by the relay's clock.
        "at": NotRequired[int],
    },
)

HandoffView = TypedDict(
    "HandoffView",
    {
        "id": str,
        "kind": Literal["handoff", "notice"],
        "state": Literal["queued", "delivered", "working", "waiting", "completed", "failed", "rejected", "canceled", "expired"],
        # How the handoff goes; the HTTP status only tells how the call went.
        "code": int,
        "name": str,
        # Whether the same handoff, given again, may succeed: as the agent said, else of the code.
        "retryable": bool,
        "from": str,
        "to": Union[str, None],
        "capability": Union[str, None],
        "version_range": Union[str, None],
        "canary": Union[str, None],
        "idempotency_key": str,
        "correlation_id": str,
        "causation": Union[dict[str, Any], None],
        "conversation_id": Union[str, None],
        "detached": bool,
        "hops": int,
        "ordering_key": Union[str, None],
        "priority": int,
        "labels": dict[str, Any],
        "digest": str,
        "evidence": Literal["signed", "attested", "relay"],
        "demands": Literal["signed", "any"],
        # The payload, where it is JSON.
        "input": NotRequired[Any],
        # The payload, where it is text.
        "text": NotRequired[str],
        # The payload, where it is neither.
        "base64": NotRequired[str],
        "payload": PayloadDigest,
        "artifacts": list[str],
        "limits": LimitsView,
        "budget": Union[dict[str, Any], None],
        "spent": dict[str, Any],
        # What was spent below, or is left, would tell the caller a price that is sealed from it: such a cost is null.
        "cost_sealed": NotRequired[Literal[True]],
        # The contract that it was given under.
        "contract": NotRequired[str],
        "dead_letter_to": Union[str, None],
        "redrive_of": Union[str, None],
        "redriven_by": Union[str, None],
        # Milliseconds since 1970 by the relay's clock.
        "accepted_at": int,
        # Milliseconds since 1970 by the relay's clock.
        "deadline_at": int,
        "ready_at": Union[int, None],
        # Queued behind an earlier handoff of its ordering key.
        "blocked": bool,
        "queue_until": Union[int, None],
        "ended_at": Union[int, None],
        "taken_at": Union[int, None],
        "version": int,
        "seq": int,
        "fence": int,
        "attempts": int,
        "deliveries": int,
        "lease": Union[LeaseHolderView, None],
        "why": Union[dict[str, Any], None],
        "question": Union[OpenQuestionView, None],
        "outcome": Union[OutcomeView, None],
        "late": list[dict[str, Any]],
        "dead_letter": Union[DeadLetterStatus, None],
        "failures": list[FailureView],
        "progress": Union[ProgressView, None],
        "checkpoint": Union[dict[str, Any], None],
        "receipts": NotRequired[list[dict[str, Any]]],
    },
)

Receipt = TypedDict(
    "Receipt",
    {
        "id": str,
        "state": str,
        # 202: durable at the relay. Otherwise how the handoff stands by now.
        "code": int,
        "name": str,
        "correlation_id": Union[str, None],
        "digest": Union[str, None],
        "accepted_at": Union[int, None],
        "deadline_at": Union[int, None],
        # It was accepted before: this answers a retry.
        "repeated": bool,
        "handoff": Union[HandoffView, None],
    },
)

QuestionView = TypedDict(
    "QuestionView",
    {
        "id": str,
        "handoff": str,
        # Of the handoff's document: what a signed answer binds.
        "digest": str,
        # Who asks.
        "agent": str,
        # Who sent the handoff.
        "from": str,
        "to": Union[str, None],
        "correlation_id": str,
        "state": Literal["queued", "delivered", "working", "waiting", "completed", "failed", "rejected", "canceled", "expired"],
        "code": int,
        "question": NotRequired[Any],
        "schema": NotRequired[Any],
        # Milliseconds since 1970 by the relay's clock.
        "asked_at": int,
        # Milliseconds since 1970 by the relay's clock.
        "answer_by": int,
        "open": bool,
        "resolution": Union[Literal["answered", "unanswered"], None],
        "answer": NotRequired[Any],
        "by": NotRequired[str],
        # Milliseconds since 1970 by the relay's clock.
        "answered_at": NotRequired[int],
    },
)

HandoffEvent = TypedDict(
    "HandoffEvent",
    {
        "type": str,
        "handoff": str,
        # Per handoff, dense from 1.
        "seq": int,
        # The log's order.
        "pos": int,
        # Milliseconds since 1970 by the relay's clock.
        "at": int,
        "correlation_id": str,
    },
)

CapabilityView = TypedDict(
    "CapabilityView",
    {
        "name": str,
        "description": NotRequired[str],
        "version": NotRequired[str],
        "input_schema": NotRequired[dict[str, Any]],
        "output_schema": NotRequired[dict[str, Any]],
        "timeout_seconds": NotRequired[int],
        # The share of attempts that it says will succeed.
        "reliability_sla": NotRequired[float],
        "sla": NotRequired[dict[str, Any]],
        "idempotent": NotRequired[bool],
        "side_effects": NotRequired[Literal["none", "reversible", "irreversible"]],
        "tags": NotRequired[list[str]],
        "examples": NotRequired[list[dict[str, Any]]],
        "max_concurrent": NotRequired[int],
        "latency": NotRequired[dict[str, Any]],
        "cost": NotRequired[dict[str, Any]],
        "data_policy": NotRequired[dict[str, Any]],
        "questions": NotRequired[list[dict[str, Any]]],
        # Wants to be asked before an offer is made in its name, and may price or decline.
        "proposes": NotRequired[bool],
        "ext": NotRequired[dict[str, Any]],
    },
)

AgentView = TypedDict(
    "AgentView",
    {
        "name": str,
        "identity": Union[str, None],
        "description": Union[str, None],
        # Milliseconds since 1970 by the relay's clock.
        "registered_at": int,
        # With every schema in full. As they were written, they are in the manifest.
        "capabilities": list[CapabilityView],
        "manifest": Union[dict[str, Any], None],
        "discovery_endpoint": Union[str, None],
        "liveness": dict[str, Any],
        "last_seen_at": Union[int, None],
        "workers": list[dict[str, Any]],
        "keys": list[dict[str, Any]],
    },
)

DeadLetterView = TypedDict(
    "DeadLetterView",
    {
        "handoff": HandoffView,
        "reason": dict[str, Any],
        # The payload, where it is JSON.
        "input": NotRequired[Any],
        # The payload, where it is text.
        "text": NotRequired[str],
        # The payload, where it is neither.
        "base64": NotRequired[str],
        "questions": list[QuestionView],
        "events": list[HandoffEvent],
        "events_cursor": Union[str, None],
    },
)

LeaseView = TypedDict(
    "LeaseView",
    {
        "id": str,
        "fence": int,
        "kind": Literal["handoff", "notice"],
        "from": str,
        "to": Union[str, None],
        "capability": Union[str, None],
        "correlation_id": str,
        "causation_id": Union[str, None],
        "conversation_id": Union[str, None],
        # Equal across attempts.
        "idempotency_key": str,
        # The payload, where it is JSON.
        "input": NotRequired[Any],
        # The payload, where it is text.
        "text": NotRequired[str],
        # The payload, where it is neither.
        "base64": NotRequired[str],
        "payload": PayloadDigest,
        "artifacts": list[ArtifactReference],
        "labels": dict[str, Any],
        "ext": NotRequired[dict[str, Any]],
        "traceparent": NotRequired[str],
        "expects": NotRequired[Any],
        "evidence": Literal["signed", "attested", "relay"],
        "demands": Literal["signed", "any"],
        # The contract that it was given under.
        "contract": NotRequired[str],
        "manifest": Union[str, None],
        "why": Union[dict[str, Any], None],
        # The number this attempt has once it is acknowledged.
        "attempt": int,
        # What is left of the deadline.
        "deadline_ms": int,
        "ack_ms": int,
        "lease_ms": int,
        "attempt_ms": int,
        "checkpoint": Union[dict[str, Any], None],
        "failures": list[FailureView],
        "questions": list[dict[str, Any]],
        # Of the handoff's document: what ack and outcome bind.
        "digest": str,
        "signed": NotRequired[dict[str, Any]],
    },
)

Hit = TypedDict(
    "Hit",
    {
        "agent_id": str,
        "capability": CapabilityView,
        "manifest": str,
        "signed": bool,
        "discovery_endpoint": str,
        "score": float,
        # What of it meets the need, each in a sentence.
        "why": list[str],
        "schemas": dict[str, Any],
        "liveness": dict[str, Any],
        "reliability": dict[str, Any],
        "cost": Union[dict[str, Any], None],
        "foreign": Union[dict[str, Any], None],
    },
)

Miss = TypedDict(
    "Miss",
    {
        "agent_id": str,
        "capability": str,
        "version": Union[str, None],
        # What keeps it from meeting the need, each in a sentence.
        "lacks": list[str],
        "schemas": NotRequired[dict[str, Any]],
    },
)

ContractTerms = TypedDict(
    "ContractTerms",
    {
        "v": Literal[1],
        "relay": str,
        "namespace": str,
        "offer": str,
        "asker": str,
        "provider": str,
        "capability": str,
        "offered": str,
        "limits": dict[str, Any],
        "input_schema": Union[str, None],
        "output_schema": Union[str, None],
        "min_reliability": Union[float, None],
        "evidence": Literal["signed", "any"],
        "data_policy": Union[dict[str, Any], None],
        "cost": Union[dict[str, Any], None],
        "valid_until": int,
    },
)

OfferView = TypedDict(
    "OfferView",
    {
        "offer_id": str,
        "agent_id": str,
        "capability": CapabilityView,
        "manifest": str,
        "terms": Union[ContractTerms, None],
        "contract_id": Union[str, None],
        # The caller offers the same: the price, and so the terms, are not shown to it, and it cannot agree.
        "sealed": bool,
        "cost": Union[dict[str, Any], None],
        "cost_salt": Union[str, None],
        "reliability": dict[str, Any],
        "schemas": dict[str, Any],
        "made_by": Literal["manifest", "proposal"],
        "proposal": Union[dict[str, Any], None],
        # Until when it can be taken, in milliseconds as `valid_until` of its terms is, and never later than that.
        "expires_at": int,
    },
)

DeclinedView = TypedDict(
    "DeclinedView",
    {
        "agent_id": str,
        "capability": str,
        # Its own, or `no_answer`, `too_many_calls`, `sealed`.
        "reason": str,
        "message": str,
    },
)

ContractView = TypedDict(
    "ContractView",
    {
        "contract_id": str,
        "terms": ContractTerms,
        "state": Literal["in_force", "stale", "breached", "expired", "ended"],
        # Milliseconds since 1970 by the relay's clock.
        "valid_until": int,
        # Milliseconds since 1970 by the relay's clock.
        "agreed_at": int,
        "ended": Union[dict[str, Any], None],
        "capability": NotRequired[CapabilityView],
        "input_schema": NotRequired[dict[str, Any]],
        "output_schema": NotRequired[dict[str, Any]],
        "asker_evidence": dict[str, Any],
        "provider_evidence": dict[str, Any],
        "fulfilment": dict[str, Any],
        # Where it is stale: what of the capability is not as agreed on.
        "changed": list[dict[str, Any]],
    },
)

ProposalCall = TypedDict(
    "ProposalCall",
    {
        # Of the offer that is asked for.
        "id": str,
        "from": str,
        "capability": str,
        # What is asked for, with the agent's own list price.
        "terms": dict[str, Any],
        "input_schema": NotRequired[dict[str, Any]],
        "output_schema": NotRequired[dict[str, Any]],
        # Milliseconds since 1970 by the relay's clock.
        "asked_at": int,
        # Milliseconds since 1970 by the relay's clock.
        "reply_by": int,
        "answer": Union[Literal["proposed", "declined"], None],
    },
)
