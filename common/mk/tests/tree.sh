#!/bin/sh
# Tests the tree itself: formatting and warnings, generated files, the makefiles.
#
#   CONVLAB_BUILD=build tree.sh
top=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$top" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SAN
. "$top/common/mk/tests/claims.sh"
claims_in=apart said=$scratch/out

skeletons_are_generated() {
    for reference in reference/*/*.c*; do
        lab=labs/${reference#reference/}
        awk -f common/mk/skeleton.awk "$reference" >"$scratch/conv.c"
        # A student's working copy may differ: compare the committed file.
        git show "HEAD:$lab" >"$scratch/committed.c" 2>/dev/null || cp "$lab" "$scratch/committed.c"
        diff "$scratch/committed.c" "$scratch/conv.c" || return 1
    done
}

skeletons_hold_no_solution() {
    for reference in reference/*/*.c*; do
        awk '/END SOLUTION/ {inside = 0} inside && !/\/\/~/ && length($0) > 12 {print}
             /BEGIN SOLUTION/ {inside = 1}' "$reference" >"$scratch/solution"
        awk -f common/mk/skeleton.awk "$reference" >"$scratch/conv.c"
        [ -s "$scratch/solution" ] || return 1
        if grep -F -x -f "$scratch/solution" "$scratch/conv.c"; then return 1; fi
    done
}

# Tests the generator: in a region, marked lines are kept and other lines are removed.
generator_cuts_regions() {
    printf 'a\n/* BEGIN SOLUTION */\nb\n    //~ c\n//~\n/* END SOLUTION */\nd\n' |
        awk -f common/mk/skeleton.awk >"$scratch/cut"
    printf 'a\n    c\n\nd\n' | diff - "$scratch/cut"
}

supported_ptx_is_current() {
    make -s build/ptx-table && build/ptx-table | diff docs/supported-ptx.md -
}

trace_columns_are_current() {
    make -s build/trace-table && build/trace-table | diff docs/trace.md -
}

# The page of measured results must be up to date with its tables.
profiler_page_is_current() {
    mkdir "$scratch/h200" && cp docs/results/h200/profiler-*.tsv "$scratch/h200" &&
        common/mk/profiler-page.py "$scratch/h200" && diff docs/results/h200/profiler.md "$scratch/h200/profiler.md" &&
        rm "$scratch/h200/profiler-spins.tsv" && ! common/mk/profiler-page.py "$scratch/h200" 2>"$scratch/said" &&
        grep 'profiler-spins.tsv is missing (hint' "$scratch/said"
}

# technique_bounds: prints "mN NUMBER" for each bound of a rubric's technique, as the sentences state it.
technique_bounds() {
    gcc -E -P -x c '-DJUDGED(f, l)=' '-DFACT(fact, scale, s)=AT fact scale NL' grader/technique/facts.def |
        tr '\n' ' ' | sed 's/NL/\n/g' | cat - labs/*/rubric.yaml |
        awk '$1 == "AT" {scale[$2] = $3} $1 == "milestone:" {m = $2} $1 == "-" && $3 ~ /^[<>]=$/ {print m, $4 * scale[$2]}'
}

# The assignment pages state the bounds of the techniques and of the rubrics.
pages_state_the_bounds() {
    technique_bounds >"$scratch/bounds"
    [ "$(wc -l <"$scratch/bounds")" -gt 10 ] || return 1
    while read -r milestone bound; do
        grep '^| 10 | `technique`' labs/"$milestone"-*/README.md | grep -qwF -- "$bound" ||
            { echo "$milestone: its page does not say $bound"; return 1; }
    done <"$scratch/bounds"
    for rubric in $(grep -l ' at_most: ' labs/*/rubric.yaml); do
        bounds=$(sed -n 's/, \([0-9.]*\)\]$/ and \1/;s/^ *at_most: \[//p' "$rubric")
        grep -q "^| 5 | .speed. .*The bounds are $bounds times " "${rubric%rubric.yaml}README.md" ||
            { echo "${rubric%/*}: its page does not say $bounds"; return 1; }
    done
}

# The text about a linear scale is written if the rubric has one, and removed with it.
scales_are_written() { # RUBRIC PAGE
    sed 's/at_most: .*/linear: [2, 8]/' "$1" >"$scratch/linear.yaml"
    sed 's/at_most: .*/linear: [50, 75]\n    timed: {images: 5000, model: two-layer-86, gpu: "A40"}/' "$1" >"$scratch/timed.yaml"
    awk -f common/mk/lab-points.awk "$scratch/linear.yaml" "$2" >"$scratch/linear.md"
    awk -f common/mk/lab-points.awk "$scratch/timed.yaml" "$scratch/linear.md" >"$scratch/timed.md"
    awk -f common/mk/lab-points.awk "$1" "$scratch/timed.md" >"$scratch/steps.md"
    grep -q '`speed` .* all points up to 2 times .*, none at 8 times or more, in proportion between them |$' "$scratch/linear.md" &&
        grep -q '`speed` .* 5000 images of `two-layer-86` on `A40`: all points up to 50 ms, none at 75 ms or more' "$scratch/timed.md" &&
        ! grep -q 'in proportion' "$scratch/steps.md" && grep -q '^| 5 | `speed` | At ' "$scratch/steps.md" ||
        { echo "$2: a linear scale in its rubric is not written"; return 1; }
}

# The beginning of each page states the file, the commands, and the points of the rubric.
pages_open_with_a_start() {
    for rubric in labs/*/rubric.yaml; do
        page=${rubric%rubric.yaml}README.md folder=${rubric#labs/}
        folder=${folder%/*}
        sed '/^## /,$d' "$page" >"$scratch/start"
        [ "$(fold -s -w 100 "$scratch/start" | wc -l)" -le 40 ] || { echo "$page: its start is longer than a screen"; return 1; }
        grep -q "^    ./grader ${folder%%-*}  *# " "$scratch/start" || { echo "$page: no command to grade"; return 1; }
        [ "${folder%%-*}" = m0 ] || grep -q "^    make ${folder%%-*} && ./grader ${folder%%-*} --quick  *# " "$scratch/start" &&
            [ "${folder%%-*}" = m0 ] || grep -q "^    .EDITOR $folder/[a-z]*\.cu*  *# " "$scratch/start" || { echo "$page: no commands"; return 1; }
        awk -f common/mk/lab-points.awk "$rubric" "$page" | diff "$page" - ||
            { echo "$page does not give the points of its rubric (hint: make points)"; return 1; }
        ! grep -q '^    at_most: ' "$rubric" || scales_are_written "$rubric" "$page" || return 1
        sed 's/^    points: 10$/    points: 11/; s/id: builds/id: links/' "$rubric" >"$scratch/edited.yaml"
        ! awk -f common/mk/lab-points.awk "$scratch/edited.yaml" "$page" | cmp -s "$page" - || { echo "$page: an edit of its rubric is not seen"; return 1; }
    done
}

# All targets that `make help` lists in the students' folder exist there.
labs_help_lists_targets() {
    make --no-print-directory -C labs help >"$scratch/help" && grep -q '^  make mN ' "$scratch/help" &&
        ! grep -q -e gpu-check -e cheats -e skeletons "$scratch/help" &&
        for target in $(sed -n 's/^  make \([a-z_]*\) .*/\1/p' "$scratch/help" | grep -v '^m$'); do
            make -n -C labs "$target" >"$scratch/dry" 2>&1 || { cat "$scratch/dry"; return 1; }
        done
}

make_does_nothing_twice() {
    make -s all reference && make all reference >"$scratch/second" &&
        ! grep -v 'Nothing to be done' "$scratch/second" && make -q all reference
}

spaces_are_refused() {
    mkdir "$scratch/with space"
    cp -r Makefile common "$scratch/with space/"
    ! make --no-print-directory -C "$scratch/with space" help >"$scratch/refused" 2>&1 &&
        grep 'has spaces' "$scratch/refused" && [ "$(grep -c . "$scratch/refused")" -eq 1 ]
}

# For a missing package, setup prints one line with its name and the command to run.
missing_package_is_named() {
    printf 'package\tprobe\tfor\tdnf\tpacman\twithout it\nno-such-package\theader:no/such.h\tbuild\tnone-for-dnf\t-\tnothing\n' \
        >"$scratch/packages.tsv"
    cp common/mk/setup.sh "$scratch/"
    ! "$scratch/setup.sh" need build 2>"$scratch/said" &&
        grep 'no-such-package.*apt-get install' "$scratch/said"
}

# With dnf, its package names are used; packages that pacman lacks are reported.
other_managers_have_names() {
    rm -rf "$scratch/other" && mkdir "$scratch/other" || return 1
    for tool in sh dirname tail gcc id; do ln -s "$(command -v $tool)" "$scratch/other/$tool"; done
    ln -s "$(command -v id)" "$scratch/other/dnf"
    ! PATH=$scratch/other "$scratch/setup.sh" need build 2>"$scratch/said" &&
        grep 'none-for-dnf.*dnf install' "$scratch/said" || return 1
    mv "$scratch/other/dnf" "$scratch/other/pacman"
    PATH=$scratch/other "$scratch/setup.sh" need build 2>"$scratch/said" &&
        grep "pacman has no package for Debian's no-such-package; without it: nothing" "$scratch/said"
}

# Setup tries to install an optional package; if this fails, it reports the missing feature.
extra_is_no_must() {
    rm -rf "$scratch/bin" && mkdir "$scratch/bin" || return 1
    printf 'package\tprobe\tfor\tdnf\tpacman\twithout it\nno-such-llvm\theader:no/such.h\textra\t-\t-\tslow\n' \
        >"$scratch/packages.tsv"
    cp common/mk/setup.sh common/mk/find-cuda.sh "$scratch/"
    for tool in sh dirname tail id gcc sed; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
    "$scratch/setup.sh" need build 2>"$scratch/said" && [ ! -s "$scratch/said" ] &&
        PATH=$scratch/bin "$scratch/setup.sh" install build 2>"$scratch/said" &&
        grep 'continuing without no-such-llvm: slow' "$scratch/said" &&
        make --no-print-directory -n LLVM= native | grep 'kernels are interpreted only'
}

# Without the right to install, one line names everything that the administrator has to install, the other steps
# continue, and only a missing required package makes setup fail. A package that cannot be installed does not prevent
# the others.
setup_continues() {
    rm -rf "$scratch/bin" && mkdir "$scratch/bin" || return 1
    printf 'package\tprobe\tfor\tdnf\tpacman\twithout it\n%s\theader:no/such.h\tbuild\t-\t-\tnothing\n%s\theader:no/such.h\textra\t-\t-\tslow\n' \
        no-such-header no-such-llvm >"$scratch/packages.tsv"
    cp common/mk/setup.sh common/mk/find-cuda.sh "$scratch/"
    printf '#!/bin/sh\necho a compiler is tried\nexit 1\n' >"$scratch/toolkit.sh"
    chmod +x "$scratch/toolkit.sh"
    for tool in sh dirname tail gcc sed mktemp rm env; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
    printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
    printf '#!/bin/sh\necho "apt: $*" >>%s\n[ "$1" = update ]\n' "$scratch/apt" >"$scratch/bin/apt-get"
    chmod +x "$scratch/bin/id" "$scratch/bin/apt-get"
    setup() { PATH=$scratch/bin CUDA_HOME=$scratch/none "$scratch/setup.sh" install build >"$scratch/said" 2>&1; }
    ! setup && [ ! -e "$scratch/apt" ] && [ "$(grep -c 'setup:' "$scratch/said")" = 3 ] &&
        grep 'administrator to run: sudo apt-get install -y no-such-header no-such-llvm ' "$scratch/said" &&
        grep 'continuing without no-such-llvm: slow' "$scratch/said" && grep 'a compiler is tried' "$scratch/said" ||
        return 1
    printf '#!/bin/sh\necho 0\n' >"$scratch/bin/id"
    ! setup && [ "$(grep -c update "$scratch/apt")" = 1 ] && [ "$(grep -c ' no-such-header$' "$scratch/apt")" = 1 ] &&
        [ "$(grep -c ' no-such-llvm$' "$scratch/apt")" = 2 ] && grep 'installing no-such-header failed' "$scratch/said"
}

# Each wrong sentence of words.tsv is found in a comment, a message, a page and a script; right ones are not.
words_are_found() {
    mkdir "$scratch/words" && cd "$scratch/words" || return 1
    words="$top/common/mk/words.py $top/common/mk/words.tsv"
    tics=$(($(wc -l <"$top/common/mk/words.tsv") - 1))
    for column in 4 5; do
        tail -n +2 "$top/common/mk/words.tsv" | cut -f $column | while IFS= read -r sentence; do
            printf '/* %s\n */\nconst char *text = "%s";\n' "$sentence" "$sentence" >>$column.c
            printf '# %s\necho "%s"\n' "$sentence" "$sentence" >>$column.sh
            printf '%s\n\n    %s\n' "$sentence" "$sentence" >>$column.md
        done
    done
    $words 5.* || return 1
    ! $words 4.* >found && [ "$(grep -c hint: found)" -eq $((5 * tics)) ] || { cat found; return 1; }
}

# The order of the modules, on a small tree: a wrong include, a wrong symbol and a cycle must be found, right ones must
# not.
order_is_kept() {
    mkdir -p "$scratch/order/top" "$scratch/order/base/tests" && cd "$scratch/order" || return 1
    order=$top/common/mk/module-order.py
    printf 'int base_value(void);\nint base_twice(void);\n' >base/value.h
    printf '#include "base/value.h"\nint base_value(void) { return 1; }\n' >base/value.c
    printf '#include "base/value.h"\nint base_twice(void) { return 2 * base_value(); }\n' >base/twice.c
    printf 'int top_value(void);\n' >top/top.h
    printf '#include "base/value.h"\nint main(void) { return base_twice(); }\n' >top/top_main.c
    printf '#include "top/top.h"\nint top_value(void) { return 3; }\n' >top/top.c
    printf '#include "top/top.h"\n' >base/tests/test_value.c
    objects() { for f in */*.c; do mkdir -p "obj/${f%/*}" && gcc -I. -c "$f" -o "obj/${f%.c}.o" || return 1; done; }
    check() { "$order" --circles --objects obj top base >found 2>&1; }
    objects && check && ! [ -s found ] || { cat found; return 1; }

    printf '#include "top/top.h"\n' >>base/twice.c
    ! check && grep -q 'base/twice.c: includes top/top.h' found || { cat found; return 1; }
    sed -i '$d' base/twice.c
    printf 'int top_value(void);\nint base_up(void);\nint base_up(void) { return top_value(); }\n' >base/up.c
    objects && ! check && grep -q 'base/up.o: uses top_value of top/top' found || { cat found; return 1; }
    rm base/up.c obj/base/up.o
    printf 'int base_value(void) { return base_twice(); }\n' >base/value.c
    sed -i '1i #include "base/value.h"' base/value.c
    objects && ! check && grep -q 'cycle: base/twice base/value' found || { cat found; return 1; }
    ! "$order" no-such-module && ! "$order" --objects nowhere top base
}

# The top of the tree has only the designed entries; a log was once committed there by mistake.
top_level_has_no_strays() {
    ! { git ls-files --cached --others --exclude-standard 2>/dev/null || ls -A; } | sed 's|/.*||' | sort -u |
        grep -v -x -e Makefile -e 'README\.md' -e 'CONTRIBUTING\.md' -e NEWS -e LICENSE -e common -e data -e docs \
            -e grader -e labs -e reference -e report-templates -e build -e '\..*'
}

# File names are unique, except the milestones' conv.c, conv.cu and gemm.cu, and files in tests.
file_names_are_unique() {
    sources() { git ls-files '*.c' '*.h' '*.def' '*.inc' '*.cu' '*.sh' '*.py' 2>/dev/null | grep -v -e /tests/ -e '/conv\.cu*$' -e '/gemm\.cu$'; }
    twice() { sed 's|.*/||' | sort | uniq -d | grep .; }
    ! sources | twice && printf '%s\n' a/x.c b/y.c c/x.c | twice | grep -q -x x.c
}

# The script that runs the tests counts a test that fails, crashes or ends early, wherever it is among the others.
failed_tests_are_counted() {
    total='Tested: 2 | Passing: 2 | Failing: 0 | Crashing: 0'
    program() { printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1" && chmod +x "$scratch/$1"; }
    program good "sleep 0.3; echo '$total'"
    program bad "echo 'why it failed'; echo '[----] at.c:7: Assertion Failed'; printf '\033[0;31m[FAIL]\033[0m a::b: (0.00s)\n'
                 echo 'Tested: 3 | Passing: 2 | Failing: 1 | Crashing: 0'; exit 1"
    program crashes 'kill -KILL $$'
    program early "echo '$total'; exit 3"
    program leaks "echo 'ERROR: LeakSanitizer: detected memory leaks'; echo '$total'"
    tests() { common/mk/run-tests.sh "$scratch" "$@" >"$scratch/tests.out" 2>&1; }
    (cd "$scratch" && mkdir -p again && cp good again/good)
    ! tests "$scratch"/good "$scratch"/bad "$scratch"/again/good -- "$scratch"/crashes "$scratch"/early &&
        [ "$(tail -n 1 "$scratch/tests.out")" = '8 passed, 3 failed' ] && grep 'why it failed' "$scratch/tests.out" &&
        printf '%s\n' 'bad: [----] at.c:7: Assertion Failed' 'bad: [FAIL] a::b: (0.00s)' \
            'crashes: ended with status 137' 'early: ended with status 3' '8 passed, 3 failed' >"$scratch/ended" &&
        tail -n 5 "$scratch/tests.out" | diff "$scratch/ended" - &&
        [ "$(grep '^==' "$scratch/tests.out" | sed 's|: .*||' | tr -d '\n')" = '== good== bad== good== crashes== early' ] &&
        ! tests "$scratch"/crashes -- "$scratch"/leaks && [ "$(tail -n 1 "$scratch/tests.out")" = '2 passed, 2 failed' ] &&
        ! tests && tests "$scratch"/good "$scratch"/again/good && [ "$(tail -n 1 "$scratch/tests.out")" = '4 passed, 0 failed' ]
}

claim 'no warnings with gcc and clang, headers stand alone, sources are formatted' make -s lint
claim 'an upward include, an upward symbol and a cycle are found' order_is_kept
claim "the words that texts avoid are found, and right sentences are not" words_are_found
claim 'the top level has only the designed entries' top_level_has_no_strays
claim 'file names are unique' file_names_are_unique
claim 'skeletons are up to date with the references' skeletons_are_generated
claim 'skeletons contain no line of a solution' skeletons_hold_no_solution
claim 'the skeleton generator cuts regions and keeps marked lines' generator_cuts_regions
claim 'the page of supported PTX agrees with the table of opcodes' supported_ptx_is_current
claim "the assignment pages state the bounds of the checks" pages_state_the_bounds
claim "the assignment pages begin with the commands and the rubric's points" pages_open_with_a_start
claim "make help in labs/ lists a student's targets" labs_help_lists_targets
claim "the page of the trace's columns agrees with their table" trace_columns_are_current
claim 'the page of the profiler on an H200 agrees with its tables' profiler_page_is_current
claim 'a second make does nothing' make_does_nothing_twice
claim 'a path with spaces is refused in one line' spaces_are_refused
claim 'a missing package is named with the command to run' missing_package_is_named
claim 'names of other package managers are used' other_managers_have_names
claim 'a package that nothing needs may be missing' extra_is_no_must
claim 'setup continues without the right to install, and after a package that fails' setup_continues
claim 'a test that fails, crashes or ends early is counted' failed_tests_are_counted
claim 'the documentation builds without warnings' make -s docs
claims_end
