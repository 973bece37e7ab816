#!/bin/bash
# Gradescope runs this once, as root, when the autograder's image is built: /autograder/source holds what is
# in the zip file.
set -eu
cd /autograder/source
. ./settings
bash install.sh convlab-handout.tar.gz /autograder/convlab "$MILESTONE"
