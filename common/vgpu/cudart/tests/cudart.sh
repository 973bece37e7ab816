#!/bin/sh
# Tests the CUDA runtime of the virtual GPU as libcudart.so.12, and its tables against the installed headers.
#
#   CONVLAB_BUILD=build cudart.sh
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
include=$("$here/../../../mk/find-cuda.sh")/include
. "$here/../../../mk/tests/claims.sh"

# finds WORDS SED_SCRIPT FILE: expects headers.py to reject a table with a seeded mistake, with these words.
finds() {
    rm -rf "$scratch/tables"
    mkdir "$scratch/tables"
    cp "$here"/../*.def "$here"/../symbols.tsv "$here"/../../api/errors.def "$scratch/tables/"
    cp "$scratch/tables/$3" "$scratch/right"
    sed "$2" "$scratch/right" >"$scratch/tables/$3"
    if cmp -s "$scratch/right" "$scratch/tables/$3"; then echo 'nothing was changed'; return 1; fi
    if "$here/headers.py" --tables "$scratch/tables" "$include" >"$scratch/found" 2>&1; then echo 'not found'; return 1; fi
    cat "$scratch/found"
    grep -q "$1" "$scratch/found"
}

claim 'functions of CUDA 12 that differ do what they did there' "$build/vgpu-run" "$build/tests/cuda12"
claim "the tables are as the toolkit's headers" "$here/headers.py" "$include"
claim 'a field elsewhere is found' finds 'multiProcessorCount' 's/388, 384/384, 388/' properties.def
claim 'a missing function is found' finds 'has cudaMemGetInfo' '/^cudaMemGetInfo	/d' symbols.tsv
claim 'an error with another number is found' finds 'cudaErrorInvalidDevice is 101' 's/X(101,/X(107,/' errors.def

claims_end
