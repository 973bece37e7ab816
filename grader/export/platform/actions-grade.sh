#!/bin/bash
# Grades a milestone of the repository in a step of GitHub Actions, and shows the points on the run's page.
#
#   actions-grade.sh MILESTONE [GRADER_OPTION...]
#
# The step fails if a check failed (1), or if the submission could not be graded, which is not the student's
# fault (2).
set -u
milestone=$1
shift
reports=$RUNNER_TEMP/reports/$milestone
mkdir -p "$reports"
sh .convlab/grade.sh "$RUNNER_TEMP/convlab" "$milestone" . "$reports/result.json" --report "$reports" "$@"
status=$?
if [ "$status" -ge 2 ]; then
    echo "::error title=$milestone::not graded, through no fault of the student (see the log of this step)"
    echo "**$milestone could not be graded**, through no fault of the student." >>"$GITHUB_STEP_SUMMARY"
elif [ -e "$reports/grading.md" ]; then
    cat "$reports/grading.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
