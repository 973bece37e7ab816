#!/bin/sh
# Grades one submission with an unpacked students' archive of ConvLab, on a grading platform.
#
#   grade.sh CONVLAB_FOLDER MILESTONE SUBMISSION_FOLDER RESULT_JSON [GRADER_OPTION...]
#
# Exit status: the grader's. 0 and 1: RESULT_JSON contains the grade; 2: the submission could not be graded, which is
# not the student's fault. A submission without the milestone's file gets the grade of a submission that does not
# compile, and the reason.
set -u
convlab=$1 milestone=$2 submission=$3 result=$4
shift 4
rm -f "$result"

# Find the file to grade as `grader class` does.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
"$convlab/build/grader" "$milestone" --json "$result" --source "$submission" --report "$work/report" "$@"
