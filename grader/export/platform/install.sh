#!/bin/bash
# Unpacks a students' archive of ConvLab on a grading platform, and installs the packages that grading needs.
#
#   install.sh ARCHIVE FOLDER MILESTONE...
set -eu
archive=$1 convlab=$2
shift 2
run=sudo
[ "$(id -u)" != 0 ] || run=

install() { # PACKAGE...
    [ $# = 0 ] && return
    $run apt-get update
    $run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

missing=()
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v make >/dev/null || missing+=(make)
command -v bwrap >/dev/null || missing+=(bubblewrap)
install "${missing[@]}"
# Ubuntu allows only root to use the sandbox. A hosted runner is a machine for a single run, so allow the sandbox there.
userns=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
if [ "${GITHUB_ACTIONS:-}" = true ] && [ -n "$run" ] && [ -e "$userns" ]; then
    echo 0 | sudo tee "$userns" >/dev/null || :
fi

mkdir -p "$convlab"
tar -xzf "$archive" -C "$convlab" --strip-components=1
"$convlab/build/grader" --help >/dev/null || {
    echo "install.sh: the grader does not run on this image (hint: choose one with a newer Ubuntu)" >&2
    exit 1
}
for milestone; do
    if [ -e "$convlab/labs/$milestone"-*/*.cu ] && [ -z "$("$convlab/common/mk/find-cuda.sh" origin)" ]; then
        install g++ python3-pip
        make -s -C "$convlab" setup || {
            echo "install.sh: $milestone is compiled by nvcc, which is not on this image (hint: choose an image with" \
                "the CUDA Toolkit)" >&2
            exit 1
        }
    fi
done
