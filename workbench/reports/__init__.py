"""Reports: run a notebook with parameters, and write it as one self-contained HTML file."""
