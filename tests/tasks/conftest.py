"""Texts with labels."""

import pytest

TEXTS = ["free entry now", "ok lar", "see you at 8", "win cash now"]


@pytest.fixture
def texts():
    """Four texts as a list."""
    return list(TEXTS)
