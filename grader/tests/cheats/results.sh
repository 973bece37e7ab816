#!/bin/sh
# Prints a page of what became of the cheats on a real GPU, from a table of `cheats.sh --device gpu --table`:
#
#   results.sh TABLE GPU_AND_DRIVER DATE > docs/results/<gpu>/cheats.md
cat <<END
# Ways to cheat on a real GPU

<!-- written by grader/tests/cheats/results.sh from the table of cheats.sh --device gpu -->

Every GPU submission of [the list](../../cheats.md) that means something on a real GPU, graded in the sandbox on
$2, $3. "Expected" is what the list says for a real GPU; "seen" is the first check that failed.

| row | the trick | submission | milestone | expected | as expected | seen |
|---|---|---|---|---|---|---|
END
awk -F '\t' 'NR > 1 {
    gsub(/\|/, "/", $8)
    printf "| %s | %s | `%s` | %s | %s | %s | `%s` |\n", $1, $2, $3, $4, $5 == "any" ? "either" : $5, $6, $8
}' "$1"
