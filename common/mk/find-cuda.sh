#!/bin/sh
# Prints the folder of the CUDA Toolkit to use. The first of these wins:
#
#   $CUDA_HOME             set by the user, whatever it contains
#   the nvcc on PATH       if it belongs to a toolkit that is new enough
#   /usr/local/cuda        if new enough (CONVLAB_INSTALLED_CUDA names another folder)
#   toolkit/cuda           in the checkout: installed by make setup
#
#   find-cuda.sh           the folder; if none is found, /usr/local/cuda, for messages
#   find-cuda.sh origin    "FOLDER<tab>VERSION<tab>ORIGIN", or nothing
#   find-cuda.sh old       "FOLDER<tab>VERSION" of each toolkit that is too old
#
# common/base/toolkit.c follows the same order; common/mk/tests/toolkit.sh compares them.
set -u
OLDEST=12040
top=$(cd "$(dirname "$0")/../.." && pwd)
installed=${CONVLAB_INSTALLED_CUDA:-/usr/local/cuda}

# version_of FOLDER: prints 13000 for CUDA 13.0; fails if the folder contains no toolkit.
version_of() {
    [ -x "$1/bin/nvcc" ] && [ -r "$1/include/cuda_runtime_api.h" ] || return 1
    version=$(sed -n 's/^#define CUDART_VERSION *\([0-9][0-9]*\).*/\1/p;T;q' "$1/include/cuda_runtime_api.h")
    [ -n "$version" ] && echo "$version"
}

# candidates: prints "FOLDER<tab>ORIGIN" lines, the preferred first.
candidates() {
    if on_path=$(command -v nvcc); then
        printf '%s\ton PATH\n' "${on_path%/bin/nvcc}"
        on_path=$(readlink -f "$on_path") # may be a link from outside the toolkit
        printf '%s\ton PATH\n' "${on_path%/bin/nvcc}"
    fi
    printf '%s\tinstalled\n' "$installed"
    printf '%s\tfrom make setup\n' "$top/toolkit/cuda"
}

dotted() { echo "$(($1 / 1000)).$(($1 % 1000 / 10))"; }

if [ -n "${CUDA_HOME:-}" ]; then
    case ${1:-} in
    '') echo "$CUDA_HOME" ;;
    origin)
        if version=$(version_of "$CUDA_HOME"); then
            printf '%s\t%s\tCUDA_HOME\n' "$CUDA_HOME" "$(dotted "$version")"
        fi ;;
    esac
    exit
fi

tab=$(printf '\t')
candidates | {
    while IFS=$tab read -r folder origin; do
        version=$(version_of "$folder") || continue
        if [ "$version" -lt "$OLDEST" ]; then
            [ "${1:-}" != old ] || printf '%s\t%s\n' "$folder" "$(dotted "$version")"
            continue
        fi
        case ${1:-} in
        '') echo "$folder" ;;
        origin) printf '%s\t%s\t%s\n' "$folder" "$(dotted "$version")" "$origin" ;;
        esac
        exit
    done
    [ -n "${1:-}" ] || echo "$installed"
}
