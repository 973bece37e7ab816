#!/bin/sh
# Grades the student's file on Autolab. The last line printed is the autoresult. If the submission could not be graded,
# the last line is another one, so that Autolab reports that the autograder failed, and gives no score.
set -u
here=$PWD/autograde
. "$here/settings"
mkdir -p "$here/convlab" "$here/submission"
tar -xzf "$here/convlab-handout.tar.gz" -C "$here/convlab" --strip-components=1
for file in conv.c conv.cu gemm.cu; do
    [ -f "$file" ] && [ ! -L "$file" ] && cp "$file" "$here/submission/"
done
for handin in *.zip *.tar *.tar.* *.tgz; do # several files are handed in as an archive, which the grader reads
    [ -f "$handin" ] && [ "$handin" != autograde.tar ] && cp "$handin" "$here/submission/"
done
# shellcheck disable=SC2086
sh "$here/grade.sh" "$here/convlab" "$MILESTONE" "$here/submission" "$here/result.json" $GRADER_OPTIONS
if [ $? -lt 2 ] && "$here/convlab/build/grader" export autolab "$here/result.json" --out "$here/autoresult"; then
    echo
    cat "$here/autoresult"
else
    echo
    echo "driver.sh: this submission was not graded, through no fault of the student (see above)"
fi
