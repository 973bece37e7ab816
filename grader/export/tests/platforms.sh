#!/bin/sh
# Tests the autograders for Gradescope, Autolab, PrairieLearn, Classroom 50 and GitHub Actions by running them as on the
# platforms: from the uploaded files, in a box without a network.
#
#   CONVLAB_BUILD=build platforms.sh
#
# bubblewrap provides Gradescope's folder /autograder; if it does not work, no test is run.
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
cd "$top" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SAN
. "$top/common/mk/tests/claims.sh"

# ---- the place ----------------------------------------------------------------------------------------
# Only this machine's system is visible, read-only; no network.
boxed() { # FOLDER PLACE COMMAND...: runs with FOLDER at PLACE, and with $also at /grade
    folder=$1 place=$2
    shift 2
    [ -z "${also:-}" ] || set -- --bind "$also" /grade "$@"
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
    echo 'skipped: autograders of platforms: bubblewrap does not work here'
fi

# ---- submissions --------------------------------------------------------------------------------------
submission() { # NAME FOLDER: makes a submission in the folder
    rm -rf "$2"
    mkdir -p "$2"
    case $1 in
    right) cp reference/m1-cpu-conv/conv.c "$2/" ;;
    deep) mkdir -p "$2/my work/m1-cpu-conv" && cp reference/m1-cpu-conv/conv.c "$2/my work/m1-cpu-conv/" ;;
    wrong) # also prints lines that a platform could mistake for the result
        { grep -v plain.h grader/tests/mutants/weights_flipped.c
          cat grader/tests/mutants/plain.h
          printf '%s\n' '#include <stdio.h>' '__attribute__((constructor)) static void forge(void)' \
              '{ puts("{\"scores\":{\"builds\":99}}"); }'
        } >"$2/conv.c" ;;
    missing) echo 'I did it, see e-mail' >"$2/notes.txt" ;;
    linked) ln -s /etc/passwd "$2/conv.c" ;;
    repository) # several milestones, in a subfolder, with the files that macOS adds
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
says() { # FILE PATTERN...: each pattern matches a line of the file
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

# A grader that cannot work: there is no results.json, and instructors see the reason.
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

# In this case, not even a student's output may be the last line.
autolab_says_when_it_cannot_grade() {
    mkdir -p "$scratch/broken/convlab-handout"
    tar -xzf "$handout" -C "$scratch/broken" && rm "$scratch/broken/convlab-handout/build/runner"
    tar -czf "$scratch/broken.tar.gz" -C "$scratch/broken" convlab-handout
    "$build/grader" export autolab-autograder m1 --handout "$scratch/broken.tar.gz" --out "$scratch/autolab" || return 1
    autolab_run wrong
    says "$scratch/last" 'no fault of the student'
}

# ---- PrairieLearn ----------------------------------------------------------------------------------------
# Does what docker does with the Dockerfile: COPY . into a folder, RUN, and the question's entrypoint.
prairielearn_builds() {
    "$build/grader" export prairielearn-autograder m1 --image example/convlab --options=--quick --handout "$handout" \
        --out "$scratch/prairielearn" || return 1
    grep -q '^COPY \. /convlab/source$' "$scratch/prairielearn/image/Dockerfile" || return 1
    mkdir "$scratch/image" && cp -r "$scratch/prairielearn/image" "$scratch/image/source"
    boxed "$scratch/image" /convlab sh -c "$(sed -n 's/^RUN //p' "$scratch/image/source/Dockerfile")"
}

prairielearn_run() { # SUBMISSION
    rm -rf "$scratch/grade"
    mkdir "$scratch/grade"
    cp -r "$scratch/prairielearn/question-m1/tests" "$scratch/grade/tests"
    submission "$1" "$scratch/grade/student"
    entry=$(sed -n 's/.*"entrypoint":[^"]*"\(.*\)",/\1/p' "$scratch/prairielearn/question-m1/info.json")
    also=$scratch/grade boxed "$scratch/image" /convlab "$entry" >"$scratch/stdout" 2>&1
}

prairielearn_reports() { # SUBMISSION PATTERN...
    name=$1
    shift
    prairielearn_run "$name" || { cat "$scratch/stdout"; return 1; }
    says "$scratch/grade/results/results.json" '^	"gradable":	true' "$@"
}

# ---- Classroom 50 ----------------------------------------------------------------------------------------
classroom50_reports() { # SUBMISSION EXIT_STATUS [PATTERN...]
    rm -rf "$scratch/runner"
    submission "$1" "$scratch/runner/repository"
    "$build/grader" export classroom50-autograder m1 --options=--quick --handout "$handout" --out "$scratch/runner/bundle" || return 1
    git -C "$scratch/runner/repository" init -q && git -C "$scratch/runner/repository" add -A &&
        GIT_COMMITTER_DATE='2026-11-01T23:30:00 -0200' git -C "$scratch/runner/repository" -c user.name=s -c user.email=s@example.org commit -qm s || return 1
    boxed "$scratch/runner" /runner env CLASSROOM=cs ASSIGNMENT=m1 ASSIGNMENT_TYPE=individual USERNAME=ann SUBMISSION_TAG=submit/1 \
        COMMIT_URL=https://example.org/c RELEASE_URL=https://example.org/r REVIEW_URL=https://example.org/c \
        sh -c 'git config --global --add safe.directory "*"; cd repository && python3 ../bundle/autograder.py' >"$scratch/stdout" 2>&1
    [ $? = "$2" ] || { cat "$scratch/stdout"; return 1; }
    shift 2
    [ $# = 0 ] && return
    says "$scratch/runner/repository/result.json" "$@"
}

# ---- GitHub Actions --------------------------------------------------------------------------------------
github_reports() { # SUBMISSION EXIT_STATUS PATTERN_OF_RESULT PATTERN_OF_PAGE
    rm -rf "$scratch/runner"
    submission "$1" "$scratch/runner/repository"
    cp grader/export/tests/run-workflow.sh "$scratch/runner/"
    "$build/grader" export github-actions m1 --options=--quick --handout "$handout" --out "$scratch/runner/repository" || return 1
    boxed "$scratch/runner" /runner sh -c 'cd repository && sh ../run-workflow.sh /runner/temp' >"$scratch/stdout" 2>&1
    [ $? = "$2" ] || { cat "$scratch/stdout"; return 1; }
    says "$scratch/runner/temp/reports/m1/result.json" "$3" && says "$scratch/runner/temp/summary.md" "$4"
}

# The step reports that the student is not to blame.
github_says_when_it_cannot_grade() {
    ! github_reports right 0 '"score"' m1 || { echo 'graded'; return 1; }
    says "$scratch/stdout" '^::error title=m1::not graded' && says "$scratch/runner/temp/summary.md" 'm1 could not be graded'
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
    claim 'Gradescope: a file in a separate folder' gradescope_scores deep 40
    claim 'Gradescope: a repository in a separate folder' gradescope_scores repository 40
    claim 'Gradescope: a folder with a newline in its name' gradescope_scores newline 40
    claim 'Gradescope: a wrong submission' gradescope_scores wrong 5 '"status":	"failed"' 'expected'
    claim 'Gradescope: no file' gradescope_scores missing 0 'no file m1-cpu-conv/conv.c'
    claim 'Gradescope: a link is not a file' gradescope_scores linked 0 'is a link, which the grader does not follow'
    claim 'Gradescope: two files' gradescope_scores twice 0 'is not the only file'
    claim 'Gradescope: not graded, no score' gradescope_says_when_it_cannot_grade
    claim 'Autolab: autograde.tar is made' autolab_builds
    claim 'Autolab: a right submission' autolab_ends_with right '^{"scores":{"builds":5,"unit_shapes":25,"inference_100":10},"scoreboard":\[40,[0-9.]*\]}$'
    claim 'Autolab: a wrong submission that prints a result' autolab_ends_with wrong '^{"scores":{"builds":5,"unit_shapes":0,"inference_100":0},"scoreboard":\[5,1000000000\]}$'
    claim 'Autolab: no file' autolab_ends_with missing '^{"scores":{"builds":0,"unit_shapes":0,"inference_100":0},'
    claim 'Autolab: not graded, no score' autolab_says_when_it_cannot_grade
    claim 'PrairieLearn: the image is built' prairielearn_builds
    claim 'PrairieLearn: a right submission' prairielearn_reports right '"score":	1,' '"name":	"unit_shapes"' '"points":	25'
    claim 'PrairieLearn: a wrong submission that prints a result' prairielearn_reports wrong '"score":	0.125,' 'expected'
    claim 'Classroom 50: a right submission' classroom50_reports right 0 '"score":	40,' '"max-score":	40' '"owner":	"ann"' '"datetime":	"2026-11-02T01:30:00Z"'
    claim 'Classroom 50: a wrong submission that prints a result' classroom50_reports wrong 0 '^	"score":	5,' '"passed":	false'
    claim 'GitHub: a right submission' github_reports right 0 '"score":	40,' '^# .*m1'
    claim 'GitHub: a wrong submission' github_reports wrong 1 '"score":	5,' 'Automatic checks: 5 of'
    handout=$scratch/broken.tar.gz
    claim 'Classroom 50: not graded, no score' classroom50_reports right 2
    claim 'GitHub: not graded, no fault of the student' github_says_when_it_cannot_grade
fi

claims_end
