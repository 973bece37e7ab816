#!/bin/sh
# Prints docs/cheats.md from cheats.tsv:
#
#   page.sh > docs/cheats.md
cd "$(dirname "$0")" || exit 1
cat <<'END'
# Ways to cheat

<!-- written by `make cheats-page` from grader/tests/cheats/cheats.tsv -->

The table lists the known tricks by which a student's submission could get points without doing the work, and the
grader's verdict on each. For each trick, the folder `grader/tests/` contains a submission that tries it. `make cheats`
grades these submissions in the same way as students' submissions: the grader builds each from a single file and runs it
in the sandbox, with a new random seed each time. `make cheats REPEATS=20` grades all of them 20 times.

Read the table as in this example from row 1: the submission *prints a fake verdict* (column "trick"); it is *rejected*
(column "verdict"), because *the results travel over a private channel* (column "protection"). The grader's output
contains the words in the column "message"; `right in all` means that the outputs were right. The verdicts are:

- *rejected*: the submission fails a check and loses points;
- *harmless*: the submission gets the points of an honest submission, and its trick gains nothing;
- *harmless, timed*: harmless, and the test also checks that the submission's Op Times (the times of its convolutions)
  are not shorter than those of an honest submission;
- *either*: the submission may be rejected or harmless.

The column "on a GPU" has the verdict on a real GPU. It has `-` if the row is not tested on a real GPU, in most cases
because m1 runs on the CPU, or because the trick concerns only the virtual GPU. The rows up to 33 are published tricks.
Row 33, hostile archives and file names, is not in the table, because the tests of `grader class`
(`grader/class/tests`) cover it.

Some words of the table: the *harness* is the program that loads the submission and calls it. x, k and y are the inputs
and the output of the convolution. The *virtual GPU* executes CUDA kernels on the CPU; its *device process* is outside
of the sandbox. *Unit shapes* are small convolutions that the grader checks, and *inference* is the run of the whole
network on images.

Some tricks cannot be prevented on a real GPU: for example, the submission could patch the functions that measure the
time. [The sandbox](sandbox.md#limits-of-the-sandbox-on-a-real-gpu) lists these tricks and how you find them. The
grading of a submission does not look for copies of other submissions;
[Submissions that resemble each other](feedback.md#submissions-that-resemble-each-other) explains how you find copies.

The proof of a milestone's technique has gaps. They remain because closing them would take points from right solutions:

- A part of the outputs may lack the technique, since tiles need not fit the output. In m14, for example, at most half of
  the outputs may be direct sums: with tiles of 6 x 6, the last whole tile ends before 42% of the outputs of the proof's
  layer. In m10, a quarter of the products must belong to threads that need most of their products.
- Timed runs are too large for a proof. The grader checks that they execute the same code as the proof, about as often
  for each output. It does not find host code that passes other addresses if there are many images, so that the same
  instructions work on useless data (an atomic operation on scratch memory, for example, while y is stored). Solutions
  may choose kernels and parameters by size, and no counter shows which of two addresses matters. A right m7 may add to
  scratch memory and copy the sums to y, so atomics on other addresses than y's prove nothing.
- In memory that it shares with the device, the host may replace values while a kernel runs. It gains only digits that
  rounding lost, because a value must be near the one that the device computed.
- The proof covers the layers and one random unit shape, not all unit shapes. A submission knows the proof's process by
  its first call, since no unit shape has the sizes of a layer of the proof. It gains nothing: kernels that are wrong in
  some unit shapes, for which the host computes in the other process, are wrong in the proof, too, if one of these
  shapes is drawn.
- In m4, the difference of a weight and its rounded value counts as 0, so the lower digits of the weights may come from
  global memory. The kernel still loads each weight from constant memory, so it only loads more. Splits of a number
  (three products in TF32, for example) need this rule.
- A thread may add a constant below 2^-20 of the largest possible sum, if this constant has at most 13 binary digits.
  Fixed point adds such constants to round.
- In m8, blocks of 256 x 1 and 16 x 16 threads count as different blocks, even if a kernel that numbers its threads
  computes the same tile with both.
- In m5, m6 and m10, a thread may get elements of x from one other thread through shared memory and load each several
  times. There this is right: a thread that computes all maps of a pixel is the only one to load the pixel's column. In
  m3, several threads must load an element, but the grader does not see whether all of them use it.
- In m13, a kernel that runs beside the copies may work on useless data, if it does at least 3% of the work of all
  kernels. Nothing in the record of a timed run shows which kernels y needs.

If a student's submission tries one of these tricks, the grader only prints the message. It accuses nobody and takes no
points beyond those of the failed checks. If you find a new trick, follow the recipe "Add a cheat" in
[Contributing](../CONTRIBUTING.md#add-a-cheat).

| row | trick | submission | milestone | verdict | message | on a GPU | protection |
|---|---|---|---|---|---|---|---|
END
awk -F '\t' 'NR > 1 {
    verdict = $6 == "any" ? "either" : $6 == "timed" ? "harmless, timed" : $6
    printf "| %s | %s | `%s` | %s | %s | `%s` | %s | %s |\n", $1, $2, $3, $4, verdict, $7, $9 == "any" ? "either" : $9, $10
}' cheats.tsv
