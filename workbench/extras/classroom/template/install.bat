@rem Installs beside this script; needs Python {{ version }} and no network.
cd /d "%~dp0"
py -{{ version }} -m venv venv || exit /b 1
venv\Scripts\python -m pip install --no-index --find-links wheels "{{ project }}" || exit /b 1
echo Start with: %~dp0venv\Scripts\workbench lab %~dp0notebooks
