"""Of real transcripts that grow: is every turn kept or covered once? tests.ten_generations has the whole table."""

import pytest

from tests.ten_generations import TRANSCRIPTS, WAYS, lived, transcripts

FILES = [path for path in transcripts() if path.parent.name in ("claude-code", "codex", "openai-chat")]


@pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {TRANSCRIPTS}")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[:12])
def test_ten_generations_keep_or_cover_every_turn_once(path, way, tmp_path):
    life = lived(path, way, tmp_path)
    assert life.wrong == []
    assert life.generations >= 2
    # What a run in place has pruned, a later one that covers it cannot read: the archive has it, the ledger has not.
    share = 0.95 if way == "elsewhere" else 0.85
    assert life.kept >= share * (life.kept + life.missing.total())
