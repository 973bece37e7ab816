#!/bin/sh
# Prints docs/cheats.md from cheats.tsv:
#
#   page.sh > docs/cheats.md
cd "$(dirname "$0")" || exit 1
cat <<'END'
# Ways to cheat

<!-- written by `make cheats-page` from grader/tests/cheats/cheats.tsv -->

Every row is a submission in the tree (below `grader/tests/`) that tries a trick. `make cheats` grades each as it grades
a student's submission: it builds the submission from its one file and runs it in the sandbox, with a new random seed
each time. `make cheats REPEATS=20` repeats this 20 times. A row of the table means: "the submission *trick*; it is
*verdict*, because *protection*". The grader's output contains the words under "message". The verdicts are:

- *rejected*: the submission fails;
- *harmless*: the submission gets the points of an honest submission, and its trick gains nothing;
- *timed*: the submission also gets Op Times, which are not shorter than those of an honest submission;
- *either*: the submission may be rejected or harmless.

The rows up to 33 are published tricks. Row 33, hostile archives and file names, is not in the table: it has its tests
with the class (`grader/class/tests`). The column "on a GPU" has the verdict on a real GPU. It has `-` if a real GPU
makes no difference, or if the trick targets the virtual GPU.
[The sandbox](sandbox.md#limits-of-the-sandbox-on-a-real-gpu) lists the tricks that nothing prevents on a real GPU, and
how you find them. [Submissions that resemble each other](feedback.md#submissions-that-resemble-each-other) explains how
to find copies.

If a student's submission tries one of these tricks, the grader only reports the message; it accuses nobody and takes no
further points. If you find a new trick, add a submission to `grader/tests/cheats/` and a row to `cheats.tsv` there, and
run `make cheats-page`.

| row | trick | submission | milestone | verdict | message | on a GPU | protection |
|---|---|---|---|---|---|---|---|
END
awk -F '\t' 'NR > 1 {
    verdict = $6 == "any" ? "either" : $6 == "timed" ? "harmless, timed" : $6
    printf "| %s | %s | `%s` | %s | %s | `%s` | %s | %s |\n", $1, $2, $3, $4, verdict, $7, $9 == "any" ? "either" : $9, $10
}' cheats.tsv
