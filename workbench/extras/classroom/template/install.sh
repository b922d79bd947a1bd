#!/bin/sh
# Installs the workbench next to this script. Needs Python {{ version }}, but no network.
set -e
cd "$(dirname "$0")"
"${PYTHON:-python3}" -m venv venv
venv/bin/python -m pip install --no-index --find-links wheels "{{ project }}"
echo "Start with: $(pwd)/venv/bin/workbench lab $(pwd)/notebooks"
