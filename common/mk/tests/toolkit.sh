#!/bin/sh
# Tests which CUDA compiler make and the programs use, and its installation with and without pip: without a network,
# with a wrong hash, on a full disk, without Python. The test makes its own wheels and toolkits.
#
#   CONVLAB_BUILD=build toolkit.sh
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CUDA_HOME CONVLAB_INSTALLED_CUDA
. "$top/common/mk/tests/claims.sh"
trap '[ -z "${server:-}" ] || kill "$server"; rm -rf "$scratch"' EXIT
claims_in=apart

# A checkout with only the scripts that find and install a toolkit, and the program that prints toolkit_find()'s result.
root=$scratch/checkout
mkdir -p "$root/common/mk" "$root/build"
for file in find-cuda.sh toolkit.sh fetch-wheels.py; do cp "$top/common/mk/$file" "$root/common/mk/"; done
cp "$build/tests/find-toolkit" "$root/build/"
: >"$root/common/conv.h"

# ---- choice of the toolkit -----------------------------------------------------------------------------

toolkit() { # FOLDER VERSION: makes the files by which a toolkit is recognised
    mkdir -p "$1/bin" "$1/include"
    printf '#!/bin/sh\necho nvcc\n' >"$1/bin/nvcc"
    chmod +x "$1/bin/nvcc"
    printf '/* ... */\n\n#define CUDART_VERSION  %s\n' "$2" >"$1/include/cuda_runtime_api.h"
}

# found EXPECTED VARIABLE=VALUE...: expects find-cuda.sh and toolkit_find() to find that folder. "none": make uses the
# default.
found() {
    expected=$1
    shift
    shell=$(env CONVLAB_INSTALLED_CUDA="$scratch/usual" PATH=/usr/bin:/bin "$@" "$root/common/mk/find-cuda.sh")
    c=$(env CONVLAB_INSTALLED_CUDA="$scratch/usual" PATH=/usr/bin:/bin "$@" "$root/build/find-toolkit")
    [ "$expected" = none ] && [ "$shell" = "$scratch/usual" ] && [ "$c" = none ] && return 0
    [ "$shell" = "$expected" ] && [ "$c" = "$expected" ] && return 0
    echo "expected $expected, make finds $shell, programs find $c"
    return 1
}

says_too_old() {
    CUDA_HOME=$scratch/old "$build/grader" m2 --quick --report "$scratch/report" && return 1
    CUDA_HOME=$scratch/old "$build/grader" m2 --quick --report "$scratch/report" 2>&1 | grep 'too old.*CUDA 12.4 or later, got CUDA 11.8'
}

if [ -e /usr/bin/nvcc ]; then
    echo 'skipped: choice of the toolkit: the nvcc in /usr/bin would always be found first'
else
    claim 'without a toolkit, none is found' found none
    toolkit "$root/toolkit/cuda-13.0" 13000
    ln -s cuda-13.0 "$root/toolkit/cuda"
    claim 'the toolkit that make setup installed is found' found "$root/toolkit/cuda"
    toolkit "$scratch/usual" 11080
    claim 'a toolkit in the usual folder that is too old is not used' found "$root/toolkit/cuda"
    claim '... and is named' test "$(env CONVLAB_INSTALLED_CUDA="$scratch/usual" PATH=/usr/bin:/bin "$root/common/mk/find-cuda.sh" old)" = \
        "$scratch/usual	11.8"
    toolkit "$scratch/usual" 13010
    claim 'a toolkit in the usual folder precedes that of make setup' found "$scratch/usual"
    toolkit "$scratch/other" 13020
    claim 'the nvcc on PATH precedes both' found "$scratch/other" PATH="$scratch/other/bin:/usr/bin:/bin"
    mkdir "$scratch/links"
    ln -s ../other/bin/nvcc "$scratch/links/nvcc"
    claim '... also through a link' found "$scratch/other" PATH="$scratch/links:/usr/bin:/bin"
    rm "$scratch/other/include/cuda_runtime_api.h"
    claim 'an nvcc without headers is not a toolkit' found "$scratch/usual" PATH="$scratch/other/bin:/usr/bin:/bin"
    toolkit "$scratch/old" 11080
    claim 'a toolkit in CUDA_HOME that is too old is reported' says_too_old
    claim 'CUDA_HOME precedes all others' found "$scratch/nowhere" PATH="$scratch/other/bin:/usr/bin:/bin" CUDA_HOME="$scratch/nowhere"
    rm -rf "$root/toolkit" "$scratch/usual"
fi

# ---- installing ----------------------------------------------------------------------------------------

# wheel PACKAGE TEXT: makes a wheel with a program of that name in the folder of the "index".
wheel() {
    mkdir -p "$scratch/index"
    python3 - "$1" "$2" "$scratch/index" <<'PYTHON'
import sys, zipfile
package, text, folder = sys.argv[1:]
name = package.replace("-", "_")
info = name + "-1.0.dist-info/"
with zipfile.ZipFile(f"{folder}/{name}-1.0-py3-none-any.whl", "w") as z:
    def put(path, text, mode=0o644):
        entry = zipfile.ZipInfo(path)
        entry.external_attr = (0o100000 | mode) << 16
        z.writestr(entry, text)
    if package == "nvidia-cuda-nvcc":
        put("nvidia/cu13/bin/nvcc", text, 0o744)
    else:
        put("nvidia/cu13/include/cuda_runtime_api.h", "#define CUDART_VERSION 13000\n")
        put("nvidia/cu13/lib/libcudart.so.13", text)
    put(info + "METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    put(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    put(info + "License.txt", "the licence")
    put(info + "RECORD", "")
PYTHON
}
row() { # PACKAGE HASH
    printf '13.0\t%s\t1.0\tx86_64\t%s\n' "$1" "$2"
}
hash_of() { sha256sum "$scratch/index/$(echo "$1" | tr - _)-1.0-py3-none-any.whl" | cut -d ' ' -f 1; }
table() { # HASH_OF_NVCC
    { echo 'toolkit	package	version	machine	sha256'; row nvidia-cuda-nvcc "$1"
      row nvidia-cuda-runtime "$(hash_of nvidia-cuda-runtime)"; } >"$root/common/mk/toolkits.tsv"
}
install() { # VARIABLE=VALUE...
    env PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS="$scratch/index" PIP_RETRIES=0 "$@" "$root/common/mk/toolkit.sh"
}
# refuses WORDS VARIABLE=VALUE...: expects one line with these words, and that nothing of the installation is left.
refuses() {
    words=$1
    shift
    if install "$@" >"$scratch/out" 2>"$scratch/err"; then echo 'exit status 0'; return 1; fi
    cat "$scratch/err"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -q "$words" "$scratch/err" && grep -q 'hint: ' "$scratch/err" || return 1
    [ -z "$(ls "$root/toolkit" 2>/dev/null)" ] || { ls "$root/toolkit"; return 1; }
}
installs() { # VARIABLE=VALUE...
    install "$@" || return 1
    "$root/toolkit/cuda/bin/nvcc" --version | grep -q 'fake nvcc' && [ -e "$root/toolkit/cuda/lib64/libcudart.so" ] &&
        grep -q 'the licence' "$root/toolkit/cuda/LICENSE" && [ "$(ls "$root/toolkit")" = "$(printf 'cuda\ncuda-13.0')" ]
}

# A disk of 64 KiB, onto which a file of 100 kB is unpacked.
on_full_disk() { # VARIABLE=VALUE...
    wheel nvidia-cuda-runtime "$(head -c 100000 /dev/urandom | base64 -w 0 | head -c 100000)"
    table "$(hash_of nvidia-cuda-nvcc)"
    list_index
    bwrap --dev-bind / / --size 65536 --tmpfs "$root/toolkit" env PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 \
        PIP_FIND_LINKS="$scratch/index" "$@" "$root/common/mk/toolkit.sh" >"$scratch/out" 2>"$scratch/err" && return 1
    cat "$scratch/err"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -q 'no space left' "$scratch/err"
}

# Makes the index as a server provides it: a page per package, with the hash of its wheel.
list_index() {
    for package in nvidia-cuda-nvcc nvidia-cuda-runtime; do
        file=$(echo "$package" | tr - _)-1.0-py3-none-any.whl
        mkdir -p "$scratch/index/simple/$package"
        echo "<html><body><a href='../../$file#sha256=$(hash_of "$package")'>$file</a></body></html>" >"$scratch/index/simple/$package/index.html"
    done
}

# Every kind of failed installation, and a successful one. VARIABLE=VALUE... select the installer.
installing() { # WITH_WHAT VARIABLE=VALUE...
    with=$1
    shift
    wheel nvidia-cuda-nvcc '#!/bin/sh
echo fake nvcc'
    wheel nvidia-cuda-runtime library
    list_index
    table "$(hash_of nvidia-cuda-nvcc)"
    wheel nvidia-cuda-nvcc '#!/bin/sh
echo another nvcc'
    claim "$with: a wheel with another hash is refused" refuses 'the wheel nvidia-cuda-nvcc has a different hash' "$@"
    # a local port on which no process listens
    claim "$with: a missing network is reported" refuses 'the Python package index cannot be reached' "$@" PIP_NO_INDEX=0 PIP_FIND_LINKS= \
        PIP_INDEX_URL=http://127.0.0.1:9/simple NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
    wheel nvidia-cuda-nvcc '#!/bin/sh
exit 1'
    list_index
    table "$(hash_of nvidia-cuda-nvcc)"
    claim "$with: an nvcc that does not run is not installed" refuses 'its nvcc does not run' "$@"
    wheel nvidia-cuda-nvcc '#!/bin/sh
echo fake nvcc'
    list_index
    mkdir -p "$root/toolkit"
    if bwrap --dev-bind / / --size 65536 --tmpfs "$scratch/index" true 2>/dev/null; then
        claim "$with: a full disk is reported" on_full_disk "$@"
    else
        echo 'skipped: a full disk: bubblewrap does not work here'
    fi
    wheel nvidia-cuda-runtime library
    list_index
    table "$(hash_of nvidia-cuda-nvcc)"
    rm -rf "$root/toolkit"
    claim "$with: the wheels become a toolkit" installs "$@"
    claim "$with: ... and are not fetched again" sh -c "PIP_INDEX_URL=http://127.0.0.1:9 '$root/common/mk/toolkit.sh'"
    rm -rf "$root/toolkit"
}

# python_that FOLDER SCRIPT: makes a program python3 in a folder that is first in PATH.
python_that() { # FOLDER SCRIPT
    mkdir "$scratch/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1/python3"
    chmod +x "$scratch/$1/python3"
}

python=$(command -v python3) || {
    echo 'skipped: installing a toolkit: python3 is missing'
    claims_end
    exit
}
if python3 -m pip --version >/dev/null 2>&1; then
    installing pip A=
    mkdir "$scratch/empty-index"
    claim 'a package that the index does not have is named' refuses 'No matching distribution found for nvidia-cuda-nvcc' \
        PIP_FIND_LINKS="$scratch/empty-index"
else
    echo 'skipped: installing a toolkit with pip: it is missing'
fi
claim 'a version that is not in the table is refused' sh -c "! '$root/common/mk/toolkit.sh' 9.0 2>&1 | grep -v 'known: 13.0'"

# Installs without pip, from a local server.
python_that no-pip "[ \"\$1 \$2\" != '-m pip' ] || exit 1; exec '$python' \"\$@\""
mkdir -p "$scratch/index"
mkfifo "$scratch/port"
(cd "$scratch/index" && exec python3 -c 'import functools, http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()' >"$scratch/port" 2>/dev/null) &
server=$!
read -r port <"$scratch/port"
here="NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PIP_INDEX_URL=http://127.0.0.1:$port/simple PIP_CERT="
# shellcheck disable=SC2086
{
    installing 'without pip' PATH="$scratch/no-pip:$PATH" $here
    table 0000000000000000000000000000000000000000000000000000000000000000
    claim 'without pip: a file with no hash of the table is named' refuses 'lists no file with a hash of' PATH="$scratch/no-pip:$PATH" $here
    rm -r "$scratch/index/simple/nvidia-cuda-nvcc"
    claim 'without pip: a package that the index does not have is named' refuses 'returned 404 .*nvidia-cuda-nvcc' PATH="$scratch/no-pip:$PATH" $here
}
mkdir "$scratch/no-python"
for tool in sh dirname awk; do ln -s "$(command -v $tool)" "$scratch/no-python/$tool"; done
claim 'a missing Python is reported' refuses 'python3 is missing' PATH="$scratch/no-python"

claims_end
