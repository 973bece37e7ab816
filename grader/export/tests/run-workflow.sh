#!/bin/sh
# Runs the job of an exported workflow as GitHub does, in the repository's folder: bash -e runs each step's script. If a
# milestone's step fails, the later steps still run, and the job fails.
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
    [ "$step" != "$1/step-1" ] || break # without ConvLab, nothing can be graded
done
exit $status
