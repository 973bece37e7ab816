#!/bin/sh
# Installs NVIDIA's CUDA compiler and its headers, without root, into the checkout's folder toolkit/.
#
#   toolkit.sh [VERSION]       default: 13.0; toolkits.tsv lists them
#
# It downloads NVIDIA's wheels from the package index for which pip is configured (without pip: fetch-wheels.py), and
# refuses wheels whose hash is not in toolkits.tsv. toolkit/cuda is a link to the last installed version, where
# find-cuda.sh finds it. A failure prints one line and leaves no files.
#
# The wheels of CUDA 12 have ptxas, headers and libraries, but no nvcc: with CUDA_FRONT_END=FOLDER, its bin/ and nvvm/
# provide nvcc (tests/toolkits.sh takes them from Debian).
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
version=${1:-13.0}
table=$here/toolkits.tsv
home=$top/toolkit/cuda-$version
part=$top/toolkit/part.$$

give_up() { # WHAT HINT
    echo "setup: CUDA $version is not installed: $1 (hint: $2)" >&2
    exit 1
}

# The requirements for pip: a line per package, with its hash for each kind of machine.
requirements() {
    awk -F'\t' -v toolkit="$version" '
        NR > 1 && $1 == toolkit {
            if (!($2 in version)) order[++n] = $2
            version[$2] = $3
            hashes[$2] = hashes[$2] " --hash=sha256:" $5
        }
        END { for (i = 1; i <= n; i++) print order[i] "==" version[order[i]] hashes[order[i]] }' "$table"
}

# Fetches and unpacks the requirements: with pip, if installed.
fetch() {
    if python3 -m pip --version >/dev/null 2>&1; then
        # a separate folder for temporary files, because /tmp is often small
        TMPDIR=$part/tmp PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 python3 -m pip install --disable-pip-version-check \
            --retries 2 --no-compile --no-deps --require-hashes --only-binary :all: --target "$part/wheels" \
            -r "$part/requirements.txt"
    else
        python3 "$here/fetch-wheels.py" "$part/requirements.txt" "$part/wheels"
    fi
}

# Prints the reason of the failure in one line, from pip's output.
explain() {
    if grep -q 'DO NOT MATCH THE HASHES' "$part/log"; then
        wheel=$(sed -n 's/^ *\([a-z][a-z0-9-]*\)==.* from .*/\1/p' "$part/log" | head -n 1)
        give_up "the wheel ${wheel:-of a package} has a different hash than in common/mk/toolkits.tsv, so it was not used" \
            "try again; if the hash stays different, the package index does not deliver what NVIDIA published"
    elif grep -q 'No space left' "$part/log"; then
        give_up "no space left in $top/toolkit" 'the installation needs 700 MB; free some space, then run: make setup'
    elif grep -qE 'Failed to establish|Connection(Error| refused| reset)|Temporary failure|Name or service|timed out|unreachable' "$part/log"; then
        give_up 'the Python package index cannot be reached' \
            'run make setup with a network, or name an installed toolkit: make CUDA_HOME=FOLDER'
    else
        give_up "its wheels cannot be fetched: $(sed -n 's/^ERROR: //p' "$part/log" | grep . | tail -n 1 | cut -c 1-200)" \
            'run make setup again, or name an installed toolkit: make CUDA_HOME=FOLDER'
    fi
}

# The wheels of CUDA 13 unpack into one folder with the toolkit's layout, those of CUDA 12 into one folder each. Some
# file names that compilers search for are missing.
arrange() {
    mkdir "$part/cuda"
    find "$part/wheels/nvidia" -name __init__.py -delete
    for folder in "$part"/wheels/nvidia/*/; do
        cp -rl "$folder". "$part/cuda/" || return 1
    done
    [ -z "${CUDA_FRONT_END:-}" ] || cp -rn "$CUDA_FRONT_END/." "$part/cuda/" || return 1
    ln -s lib "$part/cuda/lib64"
    for library in libcudart libcupti; do
        for file in "$part/cuda/lib/$library".so.*; do
            [ ! -e "$file" ] || ln -sf "${file##*/}" "$part/cuda/lib/$library.so"
        done
    done
    cp "$(find "$part"/wheels/nvidia_cuda_nvcc*.dist-info -name 'License*' | head -n 1)" "$part/cuda/LICENSE" 2>/dev/null
    chmod -R a+rX "$part/cuda"
    chmod a+x "$part"/cuda/bin/* "$part"/cuda/nvvm/bin/* 2>/dev/null
    "$part/cuda/bin/nvcc" --version
}

[ -n "$(requirements)" ] ||
    give_up 'it is not in common/mk/toolkits.tsv' "known: $(tail -n +2 "$table" | cut -f 1 | sort -uV | paste -s -d ' ' -)"
if [ ! -x "$home/bin/nvcc" ]; then
    command -v python3 >/dev/null 2>&1 ||
        give_up 'it comes from the Python package index, and python3 is missing' 'install python3, then run: make setup'
    trap 'rm -rf "$part"' EXIT
    trap 'exit 1' INT TERM HUP
    mkdir -p "$part/wheels" "$part/tmp" 2>/dev/null || give_up "cannot write to $top/toolkit" "check that folder's owner"
    requirements >"$part/requirements.txt" || give_up "cannot write to $part" 'is the disk full?'
    echo "setup: installing NVIDIA's CUDA compiler $version into toolkit/cuda-$version"
    fetch >"$part/log" 2>&1 || explain
    arrange >"$part/log" 2>&1 || give_up "its nvcc does not run: $(tail -n 1 "$part/log" | cut -c 1-200)" \
        'install the CUDA Toolkit in another way, and name it: make CUDA_HOME=FOLDER'
    rm -rf "$home"
    mv "$part/cuda" "$home" || give_up "cannot write $home" 'is the disk full?'
    echo "setup: installed CUDA $version in toolkit/cuda-$version ($(du -sm "$home" | cut -f 1) MB), under NVIDIA's licence:" \
        "toolkit/cuda-$version/LICENSE"
fi
ln -sfn "cuda-$version" "$top/toolkit/cuda"
