"""Run Table 2 of Grandvalet & Bengio on the paper's own data, and record it where the replays show it.

    workbench papers data letter; workbench papers data forest         # or from files: --from
    python tests/peers/table2.py --most 40               # print the rows up to n = 40
    python tests/peers/table2.py --write                 # all of them, and record each when it is done: hours
    python tests/peers/table2.py --write --runs 500      # in minutes, with larger errors

A row that is recorded with as many runs is left out, so that what was interrupted goes on, one with fewer is replaced;
"digits" is a short row that tests run again.
"""

import argparse
import json
import time

from sklearn.tree import DecisionTreeClassifier

from workbench.cross_validation.populations import KNOWN, kept_population
from workbench.data.whole_files import write_text
from workbench.extras.papers.grandvalet_bengio import PRINTED, PRINTED_RUNS, RECORD, type_one_row

DIGITS = "digits"
SHORT = {"n": 20, "runs": 100}


def measured(name, population, n, runs):
    """Return a row with the minutes of one core that it took."""
    start = time.process_time()
    row = type_one_row(population, DecisionTreeClassifier(), n, runs)
    return {"data": name} | row | {"minutes": round((time.process_time() - start) / 60, 2)}


def planned(most, runs):
    """Yield name, population, n and runs of each row, those of small n first."""
    yield DIGITS, DIGITS, SHORT["n"], SHORT["runs"]
    populations = {known.title: kept_population(name) for name, known in KNOWN.items()}
    for n in next(iter(PRINTED.values())):
        for name, population in populations.items():
            if population and n <= most:
                yield name, population, n, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=2000, help="the largest n")
    parser.add_argument("--runs", type=int, default=PRINTED_RUNS)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for name, population, n, runs in planned(options.most, options.runs):
        recorded = {(row["data"], row["n"]): row for row in json.loads(RECORD.read_text())}
        if options.write and recorded.get((name, n), {"runs": 0})["runs"] >= runs:
            continue
        recorded[name, n] = measured(name, population, n, runs)
        print(recorded[name, n], flush=True)
        if options.write:
            write_text(RECORD, json.dumps(list(recorded.values()), indent=1) + "\n")


if __name__ == "__main__":
    main()
