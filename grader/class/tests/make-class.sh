#!/bin/sh
# Makes a class: N submissions of m1 and m2 in FOLDER, right, wrong and hostile, as folders and archives, with
# names that are awkward. The same N gives the same class.
#
#   make-class.sh N FOLDER [MILESTONES]      (default: m1,m2)
set -e
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
n=$1
folder=$2
case ${3:-m1,m2} in *m2*) cuda=yes ;; *) cuda= ;; esac
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# inline FILE: a mutant as one file, with what it includes from beside it in its place.
inline() {
    awk -v dir="$(dirname "$1")" '
        /^#include "(plain|right|[a-z_]*)\.(h|cuh|inc|c)"/ {
            name = $2; gsub(/"/, "", name)
            file = dir "/" name
            if ((getline line < file) > 0) {
                do print line; while ((getline line < file) > 0)
                close(file)
                next
            }
        }
        { print }' "$1"
}

# Mutants in the order of their names; every seventh submission is right. Those that only ever end at a limit
# of ten seconds and more are in once.
ls "$top"/grader/tests/mutants/*.c | grep -v -e /_ -e /loops -e /late_thread -e /huge_memory -e /prints_ten >"$scratch/m1"
ls "$top"/grader/tests/mutants_cuda/*.cu | grep -v -e /loops -e /waits >"$scratch/m2"
pick() { sed -n "$(($2 % $(wc -l <"$scratch/$1") + 1))p" "$scratch/$1"; }

# A wrong mutant for each submission, or the reference.
sources() { # NUMBER TO
    mkdir -p "$2/m1-cpu-conv"
    case $(($1 % 7)) in
    0) cp "$top/reference/m1-cpu-conv/conv.c" "$2/m1-cpu-conv/conv.c" ;;
    *) inline "$(pick m1 "$1")" >"$2/m1-cpu-conv/conv.c" ;;
    esac
    [ $(($1 % 50)) -ne 41 ] || head -c 3000 "$top/grader/class/tests/make-class.sh" | gzip >"$2/m1-cpu-conv/conv.c"
    [ -n "$cuda" ] && [ $(($1 % 11)) -ne 5 ] || return 0
    mkdir -p "$2/m2-gpu-baseline"
    case $(($1 % 5)) in
    0 | 3) cp "$top/reference/m2-gpu-baseline/conv.cu" "$2/m2-gpu-baseline/conv.cu" ;;
    *) inline "$(pick m2 "$1")" >"$2/m2-gpu-baseline/conv.cu" ;;
    esac
}

i=0
while [ "$i" -lt "$n" ]; do
    i=$((i + 1))
    name=$(printf 's%03d' "$i")
    rm -rf "$scratch/s"
    mkdir "$scratch/s"
    sources "$i" "$scratch/s"
    case $((i % 12)) in
    1) (cd "$scratch/s" && tar czf "$folder/$name.tar.gz" .) ;;
    2) (cd "$scratch/s" && tar cf "$folder/$name.tar" ./*) ;;
    3) mkdir -p "$folder/$name/labs" && cp -r "$scratch"/s/* "$folder/$name/labs/" ;;
    4) (cd "$scratch" && tar cJf "$folder/$name.tar.xz" s) ;;
    5) cp -r "$scratch/s" "$folder/$name with blank" ;;
    6) cp -r "$scratch/s" "$folder/$name
newline" ;;
    7) cp -r "$scratch/s" "$folder/$(printf '%s\377\303' "$name")" ;;
    8) cp -r "$scratch/s" "$folder/-$name" ;;
    9) cp -r "$scratch/s" "$folder/$name'\"\$(x)" ;;
    *) cp -r "$scratch/s" "$folder/$name" ;;
    esac
    case $((i % 50)) in # hostile archives, and files that are not a source
    17)
        rm -rf "$folder/$name"*
        (cd "$scratch/s" && tar cPf "$folder/$name.tar" ../s/m1-cpu-conv/conv.c)
        ;;
    29)
        rm -rf "$folder/"*"$name"*
        ln -s /etc/passwd "$scratch/s/link"
        (cd "$scratch/s" && tar cf "$folder/$name.tar" link m1-cpu-conv)
        ;;
    35) cp "$folder/"*"s001.tar.gz" "$folder/$name.tgz" && mkdir -p "$folder/$name" ;;
    esac
done
