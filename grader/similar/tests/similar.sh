#!/bin/sh
# Tests grader similar, from graded submissions to the page, and a small run of `make similarity-check`.
#
#   CONVLAB_BUILD=build similar.sh
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
. "$top/common/mk/tests/claims.sh"
PATH=$("$top/common/mk/find-cuda.sh")/bin:$PATH
export PYTHONDONTWRITEBYTECODE=1
hand_in() { # NAME FILE
    mkdir -p "$scratch/class/$1/m2-gpu-baseline"
    cp "$2" "$scratch/class/$1/m2-gpu-baseline/conv.cu"
}
cd "$scratch" || exit 1
PYTHONPATH=$here python3 -c 'import disguise, sys; sys.stdout.write(disguise.disguise(sys.stdin.read(), 1)[0])' \
    <"$top/grader/tests/textbook/m2_flat.cu" >copy.cu
hand_in ann "$top/grader/tests/textbook/m2_flat.cu"
hand_in bob copy.cu
hand_in cara "$top/grader/tests/textbook/m2_tiles.cu"
"$build/grader" class class --milestones m2 --quick --images 1 --page class.html >graded 2>&1
claim "two of three graded ones are a pair" sh -c "'$build/grader' similar | tee printed;
    grep -q 'm2 ann and bob: alike by the computation of the code (100 %); weak, because' printed && grep -q '^1 similar pair of 4 sources, 1 of them weak' printed"
claim "the page shows it" grep -q '<strong>m2: ann and bob</strong>' similar.html
claim "the page of the class, too" grep -q '"kind":"by the computation of the code, 100 %; weak, because the code is short","who":\["ann","bob"\]' class.html
find gradebook.db.files -name kernels.ptx -delete
claim "without the PTX it is said" sh -c "'$build/grader' similar | grep 'because their PTX was not kept: 3 '"
claim "copies are found, others not accused" "$here/resemblance.py" "$build/grader" "$scratch/small" \
    --half choose --students 12 --copies 4
claims_end
