#!/bin/sh
# Tests the students' archive: unpacked in an empty folder, with an empty environment, it builds and grades; skeletons
# fail with clear messages; references copied into it pass; it contains no line of a solution.
#
#   CONVLAB_BUILD=build handout.sh [MILESTONE ... | all]
#
# Milestones: those to build and grade. Default, for `make check`: m1 and the last existing GPU milestone up to m3.
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${CONVLAB_BUILD:-build}
cd "$top" || exit 1
. "$top/common/mk/tests/claims.sh"

# bare COMMAND: runs a shell command in the unpacked archive, as on another machine.
bare() {
    env -i PATH="$cuda:/usr/bin:/bin" HOME="$scratch/nobody" sh -c "cd '$root' && $1"
}
cuda=$(common/mk/find-cuda.sh)/bin

# The grader must exit with 1, and only `builds` gets points.
skeleton_fails_kindly() { # MILESTONE COMMAND
    bare "$2 --json '$scratch/result.json'"
    status=$?
    [ "$status" -eq 1 ] || { echo "exit status $status, expected 1"; return 1; }
    awk '/"name":/ {gsub(/[",]/, ""); name = $2}
         /"status":/ {gsub(/[",]/, ""); status = $2}
         /"points":/ {gsub(/[",]/, ""); if ($2 > 0 && name != "builds") {print "points for", name; bad = 1}
                      if (name == "builds" && $2 == 0) {print "no points for builds"; bad = 1}}
         END {exit bad}' "$scratch/result.json"
}

# References get all points for speed, which are computed from the shipped times.
reference_passes() { # MILESTONE FOLDER
    how=--quick
    size='m2 at 100 images' images=100
    case $1 in g*) size='g2 at M=1024 N=1024 K=1024' images=1024 ;; esac
    ! grep -q 'id: speed' "labs/$2/rubric.yaml" || how="--images $images"
    cp reference/"$2"/*.c* "$root/labs/$2/" && bare "cd labs && make $1 && ./grader $1 $how --profile" >"$scratch/graded"
    status=$?
    cat "$scratch/graded"
    [ "$status" = 0 ] && grep -q "time	here" "$root/build/report/$1/profile/parts.tsv" &&
        { [ "$how" = --quick ] || grep -q "^  pass  speed  *5/5 .* times the Op Time of $size" "$scratch/graded"; }
}

# Models three rows again, of which one was altered: exactly this row must differ.
shipped_times_are_those_of_now() {
    sed 's/^\(h200	m2	10	12	.*\)	\([0-9][0-9.]*\)\(e[-0-9]*\)*	\([0-9.]*	[0-9a-f]*\)$/\1	\21\3	\4/' data/modelled-times.tsv >"$scratch/altered.tsv"
    [ "$(diff data/modelled-times.tsv "$scratch/altered.tsv" | grep -c '^>')" = 1 ] || return 1
    "$build/model-times" --check m2 10 "$scratch/altered.tsv" >"$scratch/differ"
    status=$?
    cat "$scratch/differ"
    [ $status = 1 ] && [ "$(grep -c . "$scratch/differ")" = 1 ] && grep -q '^h200 m2, 10 images, layer with 12 maps: ' "$scratch/differ"
}

# CONVLAB_PRIVATE=FOLDER: an instructor's models and shapes, which must also be absent
nothing_leaks() { common/mk/leaks.sh "$root" reference ${CONVLAB_PRIVATE:+"$CONVLAB_PRIVATE"}; }

# The check must find a line of a solution in a text, in a binary and in a compressed file.
leaks_are_found() {
    line=$(common/mk/leaks.sh --list reference | awk 'length($0) > 40 {print; exit}')
    [ -n "$line" ] || return 1
    mkdir -p "$scratch/leak"
    echo "as in   $line, for example" >"$scratch/leak/page.md"
    ! common/mk/leaks.sh "$scratch/leak" reference || return 1
    printf '\001\000%s\000\002' "$line" >"$scratch/leak/page.md"
    ! common/mk/leaks.sh "$scratch/leak" reference || return 1
    echo "$line" | gzip >"$scratch/leak/page.gz"
    rm "$scratch/leak/page.md"
    ! common/mk/leaks.sh "$scratch/leak" reference || return 1
    echo 'nothing of the kind' >"$scratch/leak/page.md"
    rm "$scratch/leak/page.gz"
    common/mk/leaks.sh "$scratch/leak" reference || return 1
    mkdir -p "$scratch/private"
    printf 'label\tB\tM\tC\tH\tW\tK\nwide filter\t2\t3\t5\t21\t19\t4\n' >"$scratch/private/shapes.tsv"
    echo 'weights' >"$scratch/private/one.safetensors"
    printf '12\t3\t5\t21\t19\t4\n2\t3\t5\t21\t19\t44\n' >"$scratch/leak/list.txt" # other numbers than the shape's
    common/mk/leaks.sh "$scratch/leak" reference "$scratch/private" || return 1
    printf '# more\n2\t3\t5\t21\t19\t4\n' >"$scratch/leak/list.txt"
    ! common/mk/leaks.sh "$scratch/leak" reference "$scratch/private" || return 1
    echo '    {{2, 3, 5, 21, 19, 4}, "wide"},' >"$scratch/leak/list.txt"
    ! common/mk/leaks.sh "$scratch/leak" reference "$scratch/private" || return 1
    mv "$scratch/private/one.safetensors" "$scratch/leak/list.txt"
    echo 'weights' >"$scratch/private/one.safetensors"
    ! common/mk/leaks.sh "$scratch/leak" reference "$scratch/private"
}

has_no() { # PATTERN...: no path in the archive matches
    for pattern; do
        if find "$root" -path "*$pattern*" | grep .; then return 1; fi
    done
}

# under another name, because make handout owns the archive in build/
common/mk/pack.sh handout "$build" "$scratch/handout.tar.gz" >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    exit 1
}
tar xzf "$scratch/handout.tar.gz" -C "$scratch"
root=$scratch/convlab-handout

claim 'no line of a solution is in the archive' nothing_leaks
claim 'the search finds planted lines of a solution' leaks_are_found
claim 'no reference, test or mutant is in the archive' has_no /reference /tests mutants .git /gpubench
claim 'make lists the targets' bare 'make | grep "make mN"'
release=$([ ! -x "$cuda/nvcc" ] || "$cuda/nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
if grep -q "	${release:-none}	" data/modelled-times.tsv; then
    claim 'the shipped modelled times of references are up to date (hint: make modelled-times)' shipped_times_are_those_of_now
else
    echo "skipped: shipped times: none were modelled with CUDA ${release:-, which is not installed}"
fi
wanted=${*:-m1 $(cd labs && ls -d m[23]-* | sed 's/-.*//' | tail -n 1)}
for folder in $(cd labs && ls -d [gm][1-9]*-*); do
    milestone=${folder%%-*}
    case " $wanted " in *" $milestone "* | ' all ') ;; *) continue ;; esac
    if [ ! -e "reference/$folder/conv.c" ] && [ ! -x "$cuda/nvcc" ]; then
        echo "skipped: $milestone: no nvcc in $cuda"
        continue
    fi
    claim "$milestone: the skeleton builds" bare "make $milestone"
    claim "$milestone: the skeleton fails with clear messages" skeleton_fails_kindly "$milestone" "./grader $milestone --quick"
    claim "$milestone: the reference, copied into labs/, passes" reference_passes "$milestone" "$folder"
done
claims_end
