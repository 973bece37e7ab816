#!/bin/sh
# Makes an archive that runs on a machine with only gcc, make and, for GPU milestones, g++ and nvcc.
#
#   pack.sh handout|bundle BUILD_FOLDER ARCHIVE
#
# Both contain the programs as built here, with the libraries that they need beside them (build/shared, which is in the
# programs' search path), the labs, the models, the test images and the documentation. They differ in this:
#
#   handout   for students: without reference/, tests and development files
#   bundle    for a machine with a GPU: the references, the benchmark's sources and `make gpu-check`
#
# The archive unpacks into one folder, convlab-handout or convlab-bundle.
#
# For programs of another machine, set LDD and STRIP to the tools that list a program's libraries and strip it, SYSROOT
# to the folder of these libraries, and MACHINE to that machine's name in uname.
set -eu
kind=$1 build=$2 archive=$3
data=${CONVLAB_DATA:-/usr/share/datasets/fashion-mnist}
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/convlab-$kind
cd "$top"

# copy FILE...: copies files of the tree to the same paths.
copy() { cp -pr --parents "$@" "$root"; }

# Prints the files that git tracks; in a tree without git, all files.
files_of() { git ls-files -- "$@" 2>/dev/null | grep . || find "$@" -type f; }

# Copies libraries, except those of the C library and the compiler, which every machine has.
shared_libraries() { # PROGRAM...
    for program; do ${LDD:-ldd} "$program"; done | sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u |
        grep -v -E '/(libc|libm|libdl|librt|libpthread|libgcc_s|libgomp|libstdc\+\+|ld-linux[^/]*)\.so'
}

mkdir -p "$root/build/shared" "$root/common/mk" "$root/data/fashion-mnist"
cp common/mk/archive.mk "$root/Makefile"
copy LICENSE data/modelled-times.tsv common/conv.h common/gemm.h common/mk/editor.cuh common/mk/flags.mk common/mk/labs.mk common/mk/find-cuda.sh common/mk/toolkit.sh common/mk/fetch-wheels.py common/mk/toolkits.tsv
files_of data/models | while read -r f; do copy "$f"; done
files_of docs | grep '\.md$\|\.ipynb$\|/images/' | grep -v 'results/\|virtual-gpu\|instructor\|architecture\|exports\|cluster\|gradebook\|sandbox\|cheats\|variants' | while read -r f; do copy "$f"; done
files_of report-templates 2>/dev/null | while read -r f; do copy "$f"; done
case ${MACHINE:-$(uname -m)} in x86_64) machine=x86-64 ;; aarch64) machine='64-bit Arm' ;; esac
sed "s/MACHINE/${machine:-$MACHINE}/" common/mk/archive-readme.md >"$root/README.md"

# Packs only committed files of the labs, the skeletons, not attempts in a working copy.
files_of labs | grep -v '^labs/report/' | while read -r f; do copy "$f"; done
for reference in reference/*/*.c*; do
    mkdir -p "$(dirname "$root/labs/${reference#reference/}")"
    awk -f common/mk/skeleton.awk "$reference" >"$root/labs/${reference#reference/}"
done
# only in the hand-out, because the bundle has a folder named grader
if [ "$kind" = handout ]; then
    sed 's|/../build/grader|/build/grader|; s|in this folder|here, too|' labs/grader >"$root/grader"
    chmod +x "$root/grader"
fi

for f in t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz; do
    [ -e "$data/$f" ] || {
        echo "$kind: $data/$f is missing (hint: run: make setup, or set CONVLAB_DATA)" >&2
        exit 2
    }
    cp "$data/$f" "$root/data/fashion-mnist/"
done

# Omits programs that are needed only to build the suite itself.
programs=
for p in grader runner confine compile-lab unpack-submission boxed vgpu-run vgpu-device vprof library-baseline; do
    [ -x "$build/$p" ] && programs="$programs $build/$p"
done
for p in $programs; do
    cp "$p" "$root/build/"
    ${STRIP:-strip} --strip-unneeded "$root/build/$(basename "$p")"
done
cp -r "$build/vgpu" "$root/build/"
[ -e "$root/build/vgpu/libvgpu-native.so" ] && ${STRIP:-strip} --strip-unneeded "$root/build/vgpu/libvgpu-native.so"
rm -rf "$root/build/vgpu/tests" "$root/build/vgpu/own-runtime" "$root/build/vgpu/coverage" "$root/build/vgpu/native" "$root"/build/vgpu/*.[cdoS] \
    "$root"/build/vgpu/*.inc "$root"/build/vgpu/*.tsv
# The libraries that vprof loads into programs on a real GPU.
for library in "$build"/profiler/*.so; do
    [ -e "$library" ] || continue
    mkdir -p "$root/build/profiler"
    cp "$library" "$root/build/profiler/"
    ${STRIP:-strip} --strip-unneeded "$root/build/profiler/$(basename "$library")"
done
# shellcheck disable=SC2086
shared_libraries $programs | while read -r library; do cp -L "${SYSROOT:-}$library" "$root/build/shared/"; done

if [ "$kind" = bundle ]; then
    files_of reference grader/gpubench common/base common/exercise common/vendor common/mk/bench-gpu.mk common/mk/bench-gpu.sh \
        common/mk/gpu-check.mk common/mk/gpu-check.sh common/mk/results-page.py common/mk/results-page.md \
        common/mk/profile-check.mk common/mk/profile-check.sh common/mk/profiler-page.py common/mk/profiler-page.md common/mk/result_tables.py | grep -v /tests/ |
        while read -r f; do [ -e "$f" ] && copy "$f"; done
    copy common/nn/oracle.[ch] common/nn/oracle_kernel.[ch] common/nn/conv_tile.h
    copy grader/course/cases.[ch] grader/course/floor.[ch] common/vgpu/api/vgpu.h common/vgpu/api/*.def grader/tests/clock/conv_times.cu common/trace/recorded.h
    copy common/mk/tests/claims.sh common/vprof/tests/samples.sh common/vprof/tests/programs/* common/vprof/tests/compared/*
fi
# Results made with this archive state the repository's version, if it has one.
git describe --always --dirty --tags >"$root/VERSION" 2>/dev/null || echo unknown >"$root/VERSION"

# Equal inputs give equal archives: omits times and the names of the user and group.
mkdir -p "$(dirname "$archive")"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -c "convlab-$kind" | gzip -n >"$archive.part"
mv "$archive.part" "$archive"
echo "$kind: $archive ($(($(stat -c %s "$archive") / 1024)) KiB)"
