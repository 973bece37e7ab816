#!/bin/sh
# Tests that build/compile_commands.json lets clang, and so clangd, understand right solutions, and find an error.
#
#   CONVLAB_BUILD=build commands.sh
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$(dirname "$0")/../../.." && pwd)
. "$top/common/mk/tests/claims.sh"
command -v clang++ >/dev/null || { echo "skipped: clang is not installed"; exit 0; }

# errors MILESTONE FILE: prints the errors that clang finds in FILE with the command of the milestone's own file.
errors() {
    command=$(sed -n "s/.*\"file\": \"[^\"]*\/$1-[^\"]*\".*\"command\": \"\(.*\) -c .*/\1/p" "$build/compile_commands.json")
    (cd "$top" && $command -fsyntax-only "$2" 2>&1 | grep error)
}

for solution in m2_flat m9_tile_template m11_wmma_tf32 m11_bfloat16_parts m12_map_pairs m13_two_buffers; do
    found=$(errors "${solution%%_*}" "grader/tests/textbook/$solution.cu")
    if [ "$found" ]; then fails "$solution: $found"; else passes; fi
done
sed 's/acc +=/ac +=/' "$top/grader/tests/textbook/m2_flat.cu" >"$scratch/wrong.cu"
if errors m2 "$scratch/wrong.cu" | grep -q "wrong.cu:20:17: error: use of undeclared identifier 'ac'"; then
    passes
else
    fails "the wrong name in line 20 is not found"
fi
claims_end
