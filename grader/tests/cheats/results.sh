#!/bin/sh
# Prints the page of the cheats' results on a real GPU, from a table of `cheats.sh --device gpu --table`:
#
#   results.sh TABLE GPU_AND_DRIVER DATE > docs/results/<gpu>/cheats.md
cat <<END
# Ways to cheat on a real GPU

<!-- written by grader/tests/cheats/results.sh from the table of cheats.sh --device gpu -->

Every GPU submission of [Ways to cheat](../../cheats.md) that applies to a real GPU, graded in the sandbox on
$2, $3. "Expected" is the verdict that the list expects on a real GPU; "seen" is the message of the first failed check.

| row | the trick | submission | milestone | expected | as expected | seen |
|---|---|---|---|---|---|---|
END
awk -F '\t' 'NR > 1 {
    gsub(/\|/, "/", $8)
    printf "| %s | %s | `%s` | %s | %s | %s | `%s` |\n", $1, $2, $3, $4, $5 == "any" ? "either" : $5, $6, $8
}' "$1"
