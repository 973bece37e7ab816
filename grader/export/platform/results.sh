#!/bin/bash
# Grades a submission for a platform that reads a file of results.
#
#   MILESTONE=mN GRADER_OPTIONS="..." results.sh FORMAT CONVLAB_FOLDER SUBMISSION_FOLDER RESULTS_JSON
#
# If the submission could not be graded, no file is written: the platform then reports that the autograder failed,
# instructors see this script's output, and the student does not get a zero.
set -u
format=$1 convlab=$2 submission=$3 results=$4
mkdir -p "$(dirname "$results")"
rm -f "$results"
graded=$(mktemp) || exit 1
# shellcheck disable=SC2086
bash "$(dirname "$0")/grade.sh" "$convlab" "$MILESTONE" "$submission" "$graded" $GRADER_OPTIONS
status=$?
if [ "$status" -lt 2 ]; then
    "$convlab/build/grader" export "$format" "$graded" --out "$results"
    status=$?
else
    echo "results.sh: this submission was not graded, through no fault of the student (see above)"
fi
rm -f "$graded"
[ "$status" -eq 0 ]
