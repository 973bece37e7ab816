#!/bin/sh
# Runs the job of an exported workflow like GitHub, in the repository's folder: bash -e runs each step's script; when a
# milestone's step fails, the later ones run too, and the job has failed.
#
#   run-workflow.sh TEMPORARY_FOLDER
#
# It skips published actions (checkout, upload-artifact). TEMPORARY_FOLDER/summary.md is the run's page.
set -u
mkdir -p "$1"
export RUNNER_TEMP="$1" GITHUB_STEP_SUMMARY="$1/summary.md" GITHUB_ACTIONS=true
awk -v to="$1" '/^      - /{inside = 0} inside {sub(/^          /, ""); print > (to "/step-" n)}
                /^        run: \|$/ {inside = 1; n++}' .github/workflows/convlab.yml
status=0
for step in "$1"/step-*; do
    bash -e "$step" && continue
    status=1
    [ "$step" != "$1/step-1" ] || break # nothing is graded without ConvLab
done
exit $status
