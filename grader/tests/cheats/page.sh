#!/bin/sh
# Prints docs/cheats.md from cheats.tsv:
#
#   page.sh > docs/cheats.md
cd "$(dirname "$0")" || exit 1
cat <<'END'
# Ways to cheat

<!-- written by `make cheats-page` from grader/tests/cheats/cheats.tsv -->

Every row is a submission in the tree (below `grader/tests/`) that `make cheats` grades like a student's:
built from its one file and run in the sandbox, with a fresh seed each time. A *rejected* submission fails, and the
grader prints the words under "message". A *harmless* one gets the points of an honest submission; a *timed* one
also gets its Op Times. *Either* marks tricks that may be rejected or harmless. Rows up to 33 are published tricks; row 33,
hostile archives and file names, has its tests with the class (`grader/class/tests`). "On a GPU" is the verdict on a
real GPU; `-` where it makes no difference or the trick targets the virtual GPU.

| row | trick | submission | milestone | verdict | message | on a GPU | protection |
|---|---|---|---|---|---|---|---|
END
awk -F '\t' 'NR > 1 {
    verdict = $6 == "any" ? "either" : $6 == "timed" ? "harmless, timed" : $6
    printf "| %s | %s | `%s` | %s | %s | `%s` | %s | %s |\n", $1, $2, $3, $4, verdict, $7, $9 == "any" ? "either" : $9, $10
}' cheats.tsv
