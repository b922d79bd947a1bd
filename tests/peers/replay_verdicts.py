"""Record the verdicts of a replay of all papers: `python tests/peers/replay_verdicts.py reports/five-papers.json`."""

import json
import sys
from pathlib import Path

RECORD = Path(__file__).with_suffix(".json")


def verdicts(report):
    """Return the verdict on each claim, by item, from what `workbench papers replay all --json` wrote."""
    return {
        item["name"]: [claim["verdict"] for claim in item["claims"]] for item in json.loads(report)
    }


if __name__ == "__main__":
    RECORD.write_text(
        json.dumps(verdicts(Path(sys.argv[1]).read_text(encoding="utf-8")), indent=1) + "\n",
        encoding="utf-8",
    )
