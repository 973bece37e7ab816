#!/bin/sh
# Prints docs/cheats.md from cheats.tsv:
#
#   page.sh > docs/cheats.md
cd "$(dirname "$0")" || exit 1
cat <<'END'
# Ways to cheat, and what becomes of them

<!-- written by `make cheats-page` from grader/tests/cheats/cheats.tsv -->

Every row is a submission in the tree (below `grader/tests/`) that `make cheats` grades like a student's:
built from its one file and run in the sandbox, with a fresh seed each time. It must be rejected with the
words under "seen", or be harmless: then it gets the points of an honest submission, and "timed" ones its
Op Times, too. "Either" is for what may end in both ways. Rows up to 33 are the published ones; row 33, hostile
archives and file names, has its tests with the class (`grader/class/tests`). "On a GPU" is the verdict where the
device is a real one; `-` where that makes no difference or the trick is one for the virtual GPU.

| row | the trick | submission | milestone | verdict | seen | on a GPU | what stops it |
|---|---|---|---|---|---|---|---|
END
awk -F '\t' 'NR > 1 {
    verdict = $6 == "any" ? "either" : $6 == "timed" ? "harmless, timed" : $6
    printf "| %s | %s | `%s` | %s | %s | `%s` | %s | %s |\n", $1, $2, $3, $4, verdict, $7, $9 == "any" ? "either" : $9, $10
}' cheats.tsv
