#!/bin/sh
# The autograders for Gradescope, Autolab and GitHub Classroom, run as the platforms run them: from the files
# that are uploaded, in a place of their own, without a network.
#
#   CONVLAB_BUILD=build platforms.sh
#
# Gradescope's /autograder is a folder that bubblewrap puts there; where it cannot, that part is skipped.
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
cd "$top" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SAN
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$top/common/mk/tests/claims.sh"

# ---- the place ----------------------------------------------------------------------------------------
# Nothing of this machine but its system, read-only; no network.
boxed() { # FOLDER PLACE COMMAND...: runs with FOLDER at PLACE
    folder=$1 place=$2
    shift 2
    set -- --bind "$folder" "$place" --chdir "$place" --clearenv --setenv PATH /usr/bin:/bin --setenv HOME / "$@"
    for part in /usr /etc /opt; do
        [ -e "$part" ] && set -- --ro-bind "$part" "$part" "$@"
    done
    for part in /bin /sbin /lib /lib64; do
        [ -L "$part" ] && set -- --symlink "$(readlink "$part")" "$part" "$@"
        [ -d "$part" ] && [ ! -L "$part" ] && set -- --ro-bind "$part" "$part" "$@"
    done
    bwrap --tmpfs / --tmpfs /tmp --proc /proc --dev /dev --unshare-all --die-with-parent "$@"
}
mkdir "$scratch/empty"
if boxed "$scratch/empty" /autograder true >/dev/null 2>&1; then
    box=yes
else
    box=
    echo 'skipped: the autograders of Gradescope and Autolab: bubblewrap does not work here'
fi

# ---- submissions --------------------------------------------------------------------------------------
submission() { # NAME FOLDER: makes one there
    rm -rf "$2"
    mkdir -p "$2"
    case $1 in
    right) cp reference/m1-cpu-conv/conv.c "$2/" ;;
    deep) mkdir -p "$2/my work/m1-cpu-conv" && cp reference/m1-cpu-conv/conv.c "$2/my work/m1-cpu-conv/" ;;
    wrong) # and it prints what a platform could take for the result
        { grep -v plain.h grader/tests/mutants/weights_flipped.c
          cat grader/tests/mutants/plain.h
          printf '%s\n' '#include <stdio.h>' '__attribute__((constructor)) static void forge(void)' \
              '{ puts("{\"scores\":{\"builds\":99}}"); }'
        } >"$2/conv.c" ;;
    missing) echo 'I did it, see e-mail' >"$2/notes.txt" ;;
    linked) ln -s /etc/passwd "$2/conv.c" ;;
    repository) # of several milestones, below a folder of its own; with what macOS adds
        mkdir -p "$2/work-main/labs/m1-cpu-conv" "$2/work-main/old
one" "$2/__MACOSX/m1-cpu-conv" && cp reference/m1-cpu-conv/conv.c "$2/work-main/labs/m1-cpu-conv/" &&
            echo '#error old' | tee "$2/work-main/old
one/conv.c" >"$2/__MACOSX/m1-cpu-conv/conv.c" ;;
    newline) mkdir "$2/new
line" && cp reference/m1-cpu-conv/conv.c "$2/new
line/" ;;
    twice) mkdir "$2/a" "$2/b" && cp reference/m1-cpu-conv/conv.c "$2/a/" && cp reference/m1-cpu-conv/conv.c "$2/b/" ;;
    esac
}
says() { # FILE PATTERN...: each is in the file
    file=$1
    shift
    for pattern; do
        grep -q -e "$pattern" "$file" || { echo "no '$pattern' in $file:"; cat "$file"; return 1; }
    done
}

# ---- Gradescope ----------------------------------------------------------------------------------------
gradescope_builds() {
    "$build/grader" export gradescope-autograder m1 --options=--quick --handout "$handout" \
        --out "$scratch/autograder.zip" || return 1
    mkdir -p "$scratch/autograder/source" "$scratch/autograder/submission" "$scratch/autograder/results"
    unzip -q "$scratch/autograder.zip" -d "$scratch/autograder/source" || return 1
    [ -x "$scratch/autograder/source/setup.sh" ] || { echo 'setup.sh is not executable'; return 1; }
    cp "$scratch/autograder/source/run_autograder" "$scratch/autograder/"
    boxed "$scratch/autograder" /autograder /autograder/source/setup.sh
}

gradescope_run() { # SUBMISSION
    rm -rf "$scratch"/autograder/results/*
    submission "$1" "$scratch/autograder/submission"
    boxed "$scratch/autograder" /autograder /autograder/run_autograder >"$scratch/stdout" 2>&1
}

gradescope_scores() { # SUBMISSION SCORE PATTERN...
    name=$1 score=$2
    shift 2
    gradescope_run "$name" || { cat "$scratch/stdout"; return 1; }
    says "$scratch/autograder/results/results.json" "^	\"score\":	$score," "$@"
}

# A grader that cannot work: no results.json, and instructors are told.
gradescope_says_when_it_cannot_grade() {
    mv "$scratch/autograder/convlab/build/runner" "$scratch/runner"
    gradescope_run right && { echo 'exit status 0'; return 1; }
    mv "$scratch/runner" "$scratch/autograder/convlab/build/runner"
    [ ! -e "$scratch/autograder/results/results.json" ] || { echo 'there is a results.json'; return 1; }
    says "$scratch/stdout" 'no fault of the student'
}

# ---- Autolab -------------------------------------------------------------------------------------------
autolab_run() { # SUBMISSION
    rm -rf "$scratch/instance"
    mkdir "$scratch/instance"
    submission "$1" "$scratch/handin"
    [ -e "$scratch/handin/conv.c" ] && cp -P "$scratch"/handin/conv.c "$scratch/instance/"
    cp "$scratch/autolab/autograde.tar" "$scratch/instance/"
    cp "$scratch/autolab/autograde-Makefile" "$scratch/instance/Makefile"
    boxed "$scratch/instance" /instance make >"$scratch/stdout" 2>&1
    tail -n 1 "$scratch/stdout" >"$scratch/last"
}

autolab_builds() {
    "$build/grader" export autolab-autograder m1 --options=--quick --handout "$handout" --out "$scratch/autolab"
}

autolab_ends_with() { # SUBMISSION PATTERN
    autolab_run "$1"
    says "$scratch/last" "$2" || { cat "$scratch/stdout"; return 1; }
}

# Not even what the student prints may be the last line then.
autolab_says_when_it_cannot_grade() {
    mkdir -p "$scratch/broken/convlab-handout"
    tar -xzf "$handout" -C "$scratch/broken" && rm "$scratch/broken/convlab-handout/build/runner"
    tar -czf "$scratch/broken.tar.gz" -C "$scratch/broken" convlab-handout
    "$build/grader" export autolab-autograder m1 --handout "$scratch/broken.tar.gz" --out "$scratch/autolab" || return 1
    autolab_run wrong
    says "$scratch/last" 'no fault of the student'
}

# ---- GitHub Classroom --------------------------------------------------------------------------------------
# The scripts of the workflow's steps, each run as GitHub does: bash -e.
steps_of() { # WORKFLOW FOLDER: step-1, step-2, ...
    awk -v to="$2" '/^      - /{inside = 0} inside {sub(/^          /, ""); print > (to "/step-" n)}
                    /^        run: \|$/ {inside = 1; n++}' "$1"
}

github_run() { # SUBMISSION
    rm -rf "$scratch/repository" "$scratch/steps" "$scratch/temp"
    mkdir "$scratch/steps" "$scratch/temp"
    submission "$1" "$scratch/repository"
    "$build/grader" export github-classroom m1 --options=--quick --handout "$handout" --out "$scratch/repository" || return 1
    steps_of "$scratch/repository/.github/workflows/classroom.yml" "$scratch/steps"
    : >"$scratch/output"
    for step in "$scratch"/steps/step-*; do
        (cd "$scratch/repository" && RUNNER_TEMP=$scratch/temp GITHUB_OUTPUT=$scratch/output bash -e "$step") || return 1
    done
    sed -n 's/^result=//p' "$scratch/output" | base64 -d >"$scratch/result"
}

github_reports() { # SUBMISSION PATTERN...
    name=$1
    shift
    github_run "$name" || return 1
    says "$scratch/result" "$@"
}

# ------------------------------------------------------------------------------------------------------------
handout=$scratch/handout.tar.gz
version=$(git describe --always --dirty --tags 2>/dev/null || echo unknown)
common/mk/pack.sh handout "$build" "$handout" >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    exit 1
}
if [ -n "$box" ]; then
    claim 'Gradescope: the zip file sets itself up' gradescope_builds
    claim 'Gradescope: a right submission' gradescope_scores right 40 '"status":	"passed"' "by ConvLab $version,"
    claim 'Gradescope: a file in a folder of its own' gradescope_scores deep 40
    claim 'Gradescope: a repository in a folder of its own' gradescope_scores repository 40
    claim 'Gradescope: a folder with a newline in its name' gradescope_scores newline 40
    claim 'Gradescope: a wrong submission' gradescope_scores wrong 5 '"status":	"failed"' 'expected'
    claim 'Gradescope: no file' gradescope_scores missing 0 'no file m1-cpu-conv/conv.c'
    claim 'Gradescope: a link is no file' gradescope_scores linked 0 'is a link, which is not followed'
    claim 'Gradescope: two files' gradescope_scores twice 0 'is not the only file'
    claim 'Gradescope: not graded, no score' gradescope_says_when_it_cannot_grade
    claim 'Autolab: autograde.tar is made' autolab_builds
    claim 'Autolab: a right submission' autolab_ends_with right '^{"scores":{"builds":5,"unit_shapes":25,"inference_100":10},"scoreboard":\[40,[0-9.]*\]}$'
    claim 'Autolab: a wrong submission that prints a result' autolab_ends_with wrong '^{"scores":{"builds":5,"unit_shapes":0,"inference_100":0},"scoreboard":\[5,1000000000\]}$'
    claim 'Autolab: no file' autolab_ends_with missing '^{"scores":{"builds":0,"unit_shapes":0,"inference_100":0},'
    claim 'Autolab: not graded, no score' autolab_says_when_it_cannot_grade
fi
claim 'GitHub: a right submission' github_reports right '"status":"pass","max_score":40' '"name":"unit_shapes","status":"pass","score":25'
claim 'GitHub: a wrong submission' github_reports wrong '"status":"fail","max_score":40' '"name":"builds","status":"pass","score":5'

claims_end
