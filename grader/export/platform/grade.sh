#!/bin/sh
# Grades one submission with an unpacked students' archive of ConvLab, on a grading platform.
#
#   grade.sh CONVLAB_FOLDER MILESTONE SUBMISSION_FOLDER RESULT_JSON [GRADER_OPTION...]
#
# Exit status: the grader's. 0 and 1: RESULT_JSON holds the grade; 2: it could not be graded, which is not the
# student's fault. A submission without its file is graded as one that does not compile and says why.
set -u
convlab=$1 milestone=$2 submission=$3 result=$4
shift 4
set -- "$milestone" --json "$result" "$@"
rm -f "$result"

lab=$(cd "$convlab/labs" && ls -d "$milestone"-* 2>/dev/null)
[ -n "$lab" ] || {
    echo "grade.sh: there is no milestone '$milestone' in $convlab" >&2
    exit 2
}
name=conv.cu
[ -e "$convlab/labs/$lab/$name" ] || name=conv.c

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# The file: in the milestone's folder, at the top, or the only one of its name. No links: what they name is
# not the student's.
found=
for file in "$submission/labs/$lab/$name" "$submission/$lab/$name" "$submission/$name"; do
    [ -f "$file" ] && [ ! -L "$file" ] && found=$file && break
done
if [ -z "$found" ]; then
    find "$submission" -maxdepth 4 -type f -name "$name" >"$work/found"
    [ "$(wc -l <"$work/found")" -eq 1 ] && found=$(cat "$work/found")
fi
if [ -z "$found" ]; then
    case $(wc -l <"$work/found") in
    0) echo "#error $name of $milestone is not in the submission" ;;
    *) echo "#error more than one $name in the submission, and none in a folder $lab" ;;
    esac >"$work/$name"
    found=$work/$name
fi
"$convlab/build/grader" "$@" --source "$found" --report "$work/report"
