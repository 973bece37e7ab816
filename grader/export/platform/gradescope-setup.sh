#!/bin/bash
# Gradescope runs this once, as root, when it builds the autograder's image: /autograder/source contains the files of
# the zip file.
set -eu
cd /autograder/source
. ./settings
bash install.sh convlab-handout.tar.gz /autograder/convlab "$MILESTONE"
