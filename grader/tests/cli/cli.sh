#!/bin/sh
# Tests the command line with exact transcripts.
#
#   CONVLAB_BUILD=build cli.sh      (CONVLAB_ACCEPT=1 writes the output into the cases;
#                                  CASES="/PATH.case ..." names a few)
#
# Each case is a file NAME.case in this folder:
#
#     # what the case shows
#     $ command            run in labs/ of a scratch checkout; "= N" after it is the exit status
#     expected output      stdout and stderr together; text that differs between runs is replaced
#
# (No line of the output may begin with "#": let the case remove such lines.)
#
# NAME.cuda.case needs nvcc, NAME.sandbox.case bubblewrap; without them, these cases are skipped.
#
# The scratch checkout shares the sources and has its own labs/ and build/, so that a case may replace any file that a
# student may change. A case may call the shell functions below.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$here/../../.." && pwd)
. "$top/common/mk/tests/claims.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SAN # the tests must not depend on the make that runs them
unset LANGUAGE; export LC_ALL=C.UTF-8 # otherwise tools print messages in the machine's language
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

fresh_checkout() {
    chmod -R u+w "$scratch/top" 2>/dev/null
    rm -rf "$scratch/top"
    mkdir -p "$scratch/top/build"
    for part in Makefile common data grader reference report-templates docs; do
        ln -s "$top/$part" "$scratch/top/$part"
    done
    [ ! -e "$top/toolkit" ] || ln -s "$top/toolkit" "$scratch/top/toolkit"
    cp -r "$top/labs" "$scratch/top/labs"
    rm -rf "$scratch/top/labs/report"
    # The built files keep their times, so that make compiles only labs again here.
    (cd "$build" && tar cf - --exclude=tests packages.ok obj lib grader runner confine compile-lab unpack-submission boxed vprof vgpu-run vgpu-device \
        train reference vgpu) | tar xf - -C "$scratch/top/build"
    # The committed skeletons, whatever a student has in the working copy.
    (cd "$top" && git archive HEAD labs 2>/dev/null) | tar xf - -C "$scratch/top" 2>/dev/null
}

# one_file SOURCE: prints the source with its includes, because a lab is compiled as a single file.
one_file() { awk -v FOLDERS="$(dirname "$1")" -f "$top/grader/tests/cheats/one_file.awk" "$1"; }

# submit NAME: makes a mutant, or "reference", the student's submission of m1; submit_cuda NAME: of m2.
submit() {
    if [ "$1" = reference ]; then
        cp "$top/reference/m1-cpu-conv/conv.c" m1-cpu-conv/conv.c
    else
        one_file "$top/grader/tests/mutants/$1.c" >m1-cpu-conv/conv.c
    fi
    rm -f ../build/labs/m1/libconv.so # otherwise a file written in the same second would not look newer
}

submit_cuda() {
    one_file "$top/grader/tests/mutants_cuda/$1.cu" >m2-gpu-baseline/conv.cu
    rm -f ../build/labs/m2/libconv.so
}

# mistakes SOURCE EDIT...: makes a submission with a copy of SOURCE for each edit (sed -E), in namespaces n1, n2, ...
# Copy N runs for shapes with N output maps. (One file, because nvcc takes most of the time.)
mistakes() {
    source=$1 n=0
    shift
    echo '#include "conv.h"'
    for edit in "$@"; do
        n=$((n + 1))
        echo "namespace n$n {"
        sed -E -e "$edit" -e 's/^extern "C" int conv_forward/static int forward/' "$source"
        echo '}'
    done
    echo 'extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)'
    echo '{'
    for i in $(seq $n); do echo "    if (s->M == $i) return n$i::forward(s, x, k, y);"; done
    echo '    return 1;'
    echo '}'
}

# fake_library right|wrong|broken: makes a program that replaces build/library-baseline. On the CPU it behaves as its
# argument says; it finds no GPU.
fake_library() {
    rm -f ../build/library-baseline
    cat >../build/library-baseline <<END
#!/bin/sh
case "\$*" in *'--on gpu'*) echo 'library-baseline: no GPU is available (hint: buy one)' >&2; exit 3 ;; esac
[ $1 = broken ] && { echo 'library-baseline: something broke' >&2; kill -SEGV \$\$; }
while [ "\$1" != --results ]; do shift; done
wrong=0
case "\$3" in --check) [ $1 = right ] || wrong=7 ;; esac
printf 'layer\tB\tM\tC\tH\tW\tK\top_time_s\twrong\tlargest_error\tfake 1.0\n' >"\$2"
printf '1\t100\t12\t1\t70\t70\t5\t0.25\t%s\t1e-6\tfast\n' \$wrong >>"\$2"
printf 'New Inference\nOp Time: 0.250000\nCorrectness: 0.91 Model: two-layer\n'
[ \$wrong = 0 ] || { echo 'library-baseline: 7 outputs are wrong' >&2; exit 1; }
END
    chmod +x ../build/library-baseline
}

# crash_device TIMES: makes the virtual GPU's process crash this often when a client requests the record of its first
# run.
crash_device() {
    rm -f "$scratch/crashes"
    [ -e ../build/device ] || mv ../build/vgpu-device ../build/device
    gcc -shared -fPIC -x c -o "$scratch/crash.so" - <<END
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int asked, crashes;
__attribute__((constructor)) static void begin(void)
{
    crashes = open("$scratch/crashes", O_RDWR | O_CREAT | O_APPEND, 0600);
}
int memfd_create(const char *name, unsigned flags)
{
    if (strcmp(name, "vgpu-records") == 0 && ++asked == 2 && lseek(crashes, 0, SEEK_END) < $1)
        raise(write(crashes, "x", 1) == 1 ? SIGSEGV : SIGKILL);
    return syscall(SYS_memfd_create, name, flags);
}
END
    printf '#!/bin/sh\nLD_PRELOAD=%s/crash.so exec %s/top/build/device "$@"\n' "$scratch" "$scratch" >../build/vgpu-device
    chmod +x ../build/vgpu-device
}

# watch_begin ARGUMENTS: starts grader watch, which prints into ../watched. watch_wait N: waits until it has graded N
# times. watch_end SIGNAL|none: ends grader watch, or waits until it ends; prints the exit status.
watch_begin() {
    rm -f ../watcher
    : >../watched
    (sh -c 'echo $$ >../watcher; exec ../build/grader watch "$@"' sh "$@"; echo "exit status $?") >>../watched 2>&1 &
}

watch_wait() {
    for _ in $(seq 600); do
        [ "$(grep -c '^Waiting' ../watched)" -ge "$1" ] && return
        sleep 0.1
    done
    echo "no grading $1 within a minute"
}

# The process of the current grading.
watch_child() {
    for _ in $(seq 500); do
        pgrep -P "$(cat ../watcher)" && return
        sleep 0.02
    done
}

watch_end() {
    [ "$1" = none ] || kill "-$1" "$(cat ../watcher)" # written before watch_wait returns
    for _ in $(seq 100); do
        grep '^exit status' ../watched && return
        sleep 0.1
    done
    echo "still there after 10 s"
}

# Replaces all text that differs between runs or machines. (With flipped weights, the error of one output is very close
# to the tolerance.)
normalise() {
    sed -e "s|$scratch/top|TOP|g" -e "s|$scratch|SCRATCH|g" \
        -e 's/Op Time: [0-9.]*/Op Time: T/' -e 's/^Op Time: T (modelled, [0-9.]* [mun]*s)/Op Time: T (modelled)/' -e 's/largest error [0-9.e+-]*/largest error E/' \
        -e 's/seed [0-9]*/seed N/' -e 's/[0-9.]* s elapsed/T s elapsed/' \
        -e 's/369579[67] of/369579N of/' -e '/^not sandboxed: bubblewrap/d' \
        -e 's/^[0-9.]*user .*k$/COST/' -e 's/^[0-9]*inputs.*swaps$/COST/'
}

# Runs one case and writes its transcript, in the form of the case file, into the scratch folder.
replay() {
    cd "$scratch/top/labs" || exit 1
    while IFS= read -r line; do
        case $line in
        '$ '*)
            command=${line#'$ '}
            command=${command%% = [0-9]*}
            (eval "$command") >"$scratch/out" 2>&1
            status=$?
            printf '$ %s = %s\n' "$command" "$status"
            normalise <"$scratch/out" ;;
        '#'*) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}

for case in ${CASES:-"$here"/*.case}; do
    case $case in
    *.cuda.case) [ -x "$("$top/common/mk/find-cuda.sh")/bin/nvcc" ] || {
        echo "skipped: ${case##*/}: no nvcc"
        continue
    } ;;
    *.sandbox.case) "$build/grader" sandbox >/dev/null || {
        echo "skipped: ${case##*/}: $("$build/grader" sandbox)"
        continue
    } ;;
    esac
    fresh_checkout
    (replay "$case") >"$scratch/got"
    if [ -n "$CONVLAB_ACCEPT" ]; then
        cp "$scratch/got" "$case"
    fi
    if diff -u "$case" "$scratch/got"; then
        passes
    else
        fails "${case##*/} (hint: if the new output is right, run with CONVLAB_ACCEPT=1 and read the diff)"
    fi
done
claims_end
