@rem Installs the workbench next to this script. Needs Python {{ version }}, but no network.
cd /d "%~dp0"
py -{{ version }} -m venv venv || exit /b 1
venv\Scripts\python -m pip install --no-index --find-links wheels "{{ project }}" || exit /b 1
echo Start with: %~dp0venv\Scripts\workbench lab %~dp0notebooks
