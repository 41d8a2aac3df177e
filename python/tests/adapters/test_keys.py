"""Which keys are the same, and which are not."""

from __future__ import annotations

from handfast._adapters.keys import Keys, joined
from handfast._protocol.ids import is_text_id


def test_parts_that_hold_a_slash_are_not_taken_for_others() -> None:
    assert joined("a", "b/c") != joined("a/b", "c")
    assert joined("a", "b%2Fc") != joined("a", "b/c")
    assert joined("team", "one", "0") == "team/one/0"


def test_what_is_sent_a_second_time_has_another_key_and_so_has_it_after_a_redelivery() -> None:
    keys = Keys("run")
    first = keys.next("pay", {"sum": 5, "to": "Ada"})
    assert Keys("run").next("pay", {"to": "Ada", "sum": 5}) == first
    assert Keys("run", keys.counts).next("pay", {"sum": 5, "to": "Ada"}) != first


def test_a_long_name_and_a_long_id_make_a_key_that_the_relay_takes() -> None:
    assert is_text_id(Keys(joined("n" * 200, "r" * 200)).next("pay"))
