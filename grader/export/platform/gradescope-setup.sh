#!/bin/bash
# Gradescope runs this once, as root, when the autograder's image is built: /autograder/source holds what is
# in the zip file.
set -eu
cd /autograder/source
. ./settings
missing=()
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v make >/dev/null || missing+=(make)
command -v bwrap >/dev/null || missing+=(bubblewrap)
if [ "${#missing[@]}" -gt 0 ]; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
fi
mkdir -p /autograder/convlab
tar -xzf convlab-handout.tar.gz -C /autograder/convlab --strip-components=1
/autograder/convlab/build/grader --help >/dev/null || {
    echo "setup.sh: the grader does not run on this image (hint: choose one with a newer Ubuntu)" >&2
    exit 1
}
if [ -e /autograder/convlab/labs/"$MILESTONE"-*/conv.cu ] && [ -z "$(/autograder/convlab/common/mk/find-cuda.sh origin)" ]; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ python3-pip
    make -s -C /autograder/convlab setup || {
        echo "setup.sh: $MILESTONE is compiled by nvcc, which is not on this image (hint: choose an image with" \
            "the CUDA Toolkit)" >&2
        exit 1
    }
fi
