#!/bin/sh
# Tests the grader's first message for mistakes that students make; each is an edit of a textbook solution.
#
# words.tsv has a row per mistake: name, the solution in ../textbook, the edit (sed -Ez), and two patterns (grep): one
# for a line that the failed check prints before its hint, and one for the hint. `--quick` must end within 20 s of
# processor time. A solution NAME@small is graded on a GPU with 60 MiB. more.tsv has more rows, which `make mutants`
# tests but `make test` does not.
#
#   CONVLAB_BUILD=build words.sh [--all | NAME ...]
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
. "$here/../../../common/mk/tests/claims.sh"
export LAB_CODE=90 LAB_STD=c++14 # faster to compile (see common/mk/labs.mk)
tab=$(printf '\t')

# verdict BASE EDIT FIRST HINT: prints the differences from the expected output; nothing if there are none.
verdict() {
    solution=$(echo "$here/../textbook/${1%@small}".c*) device='--device virtual'
    file=conv.${solution##*.}
    [ "${1%@small}" = "$1" ] || device="--device virtual:$scratch/small.yaml"
    [ "${1%%_*}" = m1 ] && device=
    sed -Ez "$2" "$solution" >"$scratch/$file"
    cmp -s "$scratch/$file" "$solution" && echo "the edit changes nothing"
    (cd "$scratch" && ulimit -t 20 && "$build/grader" "${1%%_*}" --source "$file" $device --quick \
        --report "$scratch/report") >"$scratch/out" 2>&1
    [ $? = 1 ] || echo "the exit status is not 1"
    sed -n '/^  FAIL/,/^        hint: /p;/^        hint: /q' "$scratch/out" >"$scratch/check"
    grep -v '^        hint: ' "$scratch/check" | grep -q -- "$3" || echo "it does not say: $3"
    grep '^        hint: ' "$scratch/check" | grep -qF -- "$4" || echo "it does not hint: $4"
    [ "$device" ] && grep -q 'Your code printed' "$scratch/out" &&
        echo "what the virtual GPU printed is called the student's"
}

sed 's/^global_bytes: .*/global_bytes: 62914560/' "$build/vgpu/profiles/h200.yaml" >"$scratch/small.yaml"
sed 1d "$here/words.tsv" >"$scratch/rows"
[ $# = 0 ] || sed 1d "$here/more.tsv" >>"$scratch/rows"
[ "$1" = --all ] && shift
while IFS=$tab read -r name base edit first hint; do
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    wrong=$(verdict "$base" "$edit" "$first" "$hint")
    if [ "$wrong" ]; then
        fails "$name: $wrong"
        cat "$scratch/out"
    else
        passes
    fi
done <"$scratch/rows"
claims_end && [ "$tested" -gt 0 ]
