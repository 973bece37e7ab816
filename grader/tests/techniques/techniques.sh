#!/bin/sh
# Grades submissions with and without their milestone's technique, all with right results: the grader must distinguish
# both kinds and report its findings.
#
#     /* expect: pass */           the line before a submission's function: it passes "technique"
#     /* expect: some text */      it fails "technique", whose first line contains this text, or the unit
#                                  shapes, if kernels did not do the work
#     /* expect: slow */           it passes "technique" and loses points of "speed"
#     /* expect: right */          (m2 and g2, which have no "technique") it passes "unit_shapes", which fails with any
#                                  other text
#     /* expect: wrong */          it fails "unit_shapes": lower precision than the milestone's tolerance
#     /* expect: many */           it passes "inference_200"
#     /* expect: many: text */     it fails "inference_200", whose first line contains this text
#     /* expect: timed: text */    with 200 images it fails "technique", whose first line contains this text
#     /* expect (long): ... */     any of these, of a submission that takes long or is much like another: only --all
#                                  grades it
#
# Each file, mN.cu, mN-PART.cu or mN_SET.cu, is compiled once. Then each of its functions becomes a library, in which it
# is called conv_forward, conv_forward_host or gemm_forward. `make techniques` grades all files with --all, `make test`
# only the milestones' files mN.cu and mN-PART.cu.
#
#   CONVLAB_BUILD=build techniques.sh [--all] [mN | mN-PART | mN_SET ...]
here=$(cd "$(dirname "$0")" && pwd)
cuda=$("$here/../../../common/mk/find-cuda.sh")
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
. "$here/../../../common/mk/tests/claims.sh"
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "techniques: seed $seed"

long='not graded'
[ "$1" = --all ] && long=expect && shift

# submissions FILE: prints "NAME<tab>EXPECTED" lines.
submissions() {
    sed "s/expect (long): /$long: /" "$1" |
        sed -n '/expect: /{s|.*expect: \(.*\) \*/|\1|;h;n;s/^[a-zA-Z_]*[ (]\([a-z0-9_]*\)[(,].*/\1/;G;s/\n/	/;p}'
}

# library NAME OBJECT TO: links the object with that function as conv_forward.
library() {
    symbol=$(sed -n "s/.* T \(_Z[0-9]*$1[iP].*\)/\1/p" "$scratch/symbols") entry=conv_forward
    case $2 in
    */g[0-9]*) entry=gemm_forward ;;
    */m13*) entry=conv_forward_host ;;
    esac
    objcopy --redefine-sym "$symbol=$entry" "$2" "$scratch/one.o" &&
        g++ -shared "$scratch/one.o" -L"$cuda/lib64" -lcudart -o "$3"
}

# judge MILESTONE NAME EXPECTED: grades a submission. @return 0 if the verdict is as expected.
judge() {
    how='--quick --images 1'
    check=technique
    case $1 in m2 | g2) check=unit_shapes ;; esac
    # (sums that are several times as long as in the proof)
    case $1 in g*) how='--quick --images 600' ;; esac
    case $3 in
    slow) how='--images 100' ;;
    wrong) check=unit_shapes ;;
    outputs*) how=--quick ;; # other sizes would be proved again and again
    many*) how='--quick --images 200' check=inference_200 ;;
    timed*) how='--quick --images 200' ;;
    esac
    text=${3#many: }
    text=${text#timed: }
    [ "$3" = wrong ] && text='outputs are wrong'
    "$build/grader" "$1" --lib "$scratch/libconv.so" --device virtual $how --seed "$seed" \
        --report "$scratch/report" >"$scratch/out" 2>&1
    status=$?
    # If kernels did not do the work, not even the unit shapes pass.
    grep -q "^  FAIL  unit_shapes .*kernels did not compute" "$scratch/out" && check=unit_shapes
    line=$(grep "^  [a-zA-Z]*  $check " "$scratch/out")
    case $3 in
    right | pass | many) [ $status = 0 ] && [ "${line#  pass}" != "$line" ] ;;
    slow) [ "${line#  pass}" != "$line" ] &&
        grep -q '^  [a-zA-Z]*  speed  *[0-4]/5 .* times the Op Time of m2 at 100 images (5 points up to' "$scratch/out" ;;
    *) [ $status = 1 ] && [ "${line#  FAIL}" != "$line" ] && [ "${line#*"$text"}" != "$line" ] ;;
    esac
}

for file in ${*:-$(cd "$here" && ls [gm][0-9]*.cu | sed '/_/d;s/\.cu//' | sort -V)}; do
    [ -e "$build/techniques/$file.o" ] || continue # not built if nvcc is missing
    milestone=${file%%[-_]*}
    submissions "$here/$file.cu" >"$scratch/list"
    nm "$build/techniques/$file.o" >"$scratch/symbols"
    while IFS='	' read -r name expected; do
        if library "$name" "$build/techniques/$file.o" "$scratch/libconv.so" &&
            judge "$milestone" "$name" "$expected"; then
            passes
        else
            fails "$file.cu, $name: expected '$expected', got:"
            cat "$scratch/out"
        fi
    done <"$scratch/list"
done
claims_end && [ "$tested" -gt 0 ]
