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

# find_files TEST...: those of the right name for which it holds. No links: what they name is not the student's.
find_files() { find "$submission" -maxdepth 7 -type f -name "$name" ! -path '*/__MACOSX/*' "$@"; }

# find_only TEST...: sets found if there is exactly one; a name may have newlines.
find_only() {
    [ "$(find_files "$@" -printf x | wc -c)" -eq 1 ] || return 1
    found=$(find_files "$@" -print && echo x)
    found=${found%?x}
}

# The file: in the milestone's folder or at the top, where students have them; else the only one in a folder that is
# called as the milestone, wherever that lies; else the only one of its name.
found=
for file in "$submission/labs/$lab/$name" "$submission/$lab/$name" "$submission/$name"; do
    [ -f "$file" ] && [ ! -L "$file" ] && found=$file && break
done
[ -n "$found" ] || find_only -path "*/$lab/$name" || find_only -path "*/$milestone/$name" || find_only
if [ -z "$found" ]; then
    case $(find_files -print -quit) in
    '') echo "#error $name of $milestone is not in the submission" ;;
    *) echo "#error more than one $name in the submission, and not one of them in a folder $lab" ;;
    esac >"$work/$name"
    found=$work/$name
fi
"$convlab/build/grader" "$@" --source "$found" --report "$work/report"
