"""Packages of R as tools: one process answers sample after sample."""

import subprocess

import numpy as np

# `answer`, a function of the lines of numbers, is what an adapter defines before this
LOOP = """
lines <- file("stdin", "r")
repeat {
  count <- suppressWarnings(as.integer(readLines(lines, 1)))
  if (!length(count)) break
  columns <- lapply(readLines(lines, count), function(line) scan(text = line, quiet = TRUE))
  failed <- function(e) paste("error", conditionMessage(e))
  reply <- tryCatch(sprintf("%.17g", answer(columns)), error = failed)
  cat(gsub("\\n", " ", paste(reply, collapse = " ")), "\\n", sep = "")
}
"""


class Calls:
    """A function of columns of numbers that R computes; R starts at the first call.

    Parameters
    ----------
    code : str
        R that defines `answer(columns)`, which returns two limits.
    """

    def __init__(self, code):
        self.code, self.process = code, None

    def __call__(self, *columns):
        """Return the limits, or raise ValueError with R's message."""
        if self.process is None:
            self.process = subprocess.Popen(
                ["Rscript", "--vanilla", "-e", self.code + LOOP],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        lines = [" ".join(map(repr, np.asarray(column).tolist())) for column in columns]
        print(len(lines), *lines, sep="\n", file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise ValueError(answer.removeprefix("error ") or "R ended")
        return tuple(map(float, answer.split()))


def installed(package):
    """Return the version of an R package, or nothing where it, or R, is missing."""
    code = f'cat(as.character(packageVersion("{package}")))'
    try:
        done = subprocess.run(["Rscript", "-e", code], text=True, capture_output=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
