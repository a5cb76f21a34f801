"""Mutated scenes: whatever is done to a scene file, it is read and runs, or is refused in clear lines."""

import pytest
from hypothesis import HealthCheck, given, settings
from random_scenes import attempt, mutated, torn


@pytest.mark.long
@settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_mutated_tables_are_read_or_refused(text):
    attempt(text)


@pytest.mark.long
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(torn())
def test_torn_texts_are_read_or_refused(text):
    attempt(text)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_a_few_mutated_tables(text):
    attempt(text)
