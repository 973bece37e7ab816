#!/bin/sh
# Makes a class in FOLDER: N right, wrong and hostile submissions of m1 and m2, as folders and archives with awkward
# names. The same N always makes the same class. submissions.py writes the sources.
#
#   make-class.sh N FOLDER [MILESTONES]      (default: m1,m2)
set -e
here=$(cd "$(dirname "$0")" && pwd)
n=$1
folder=$2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$here/submissions.py" "$n" "$scratch/all" "${3:-m1,m2}"

i=0
while [ "$i" -lt "$n" ]; do
    i=$((i + 1))
    name=$(printf 's%03d' "$i")
    rm -rf "$scratch/s"
    mkdir -p "$scratch/all/$i"
    mv "$scratch/all/$i" "$scratch/s"
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
    case $((i % 50)) in # hostile archives, and files that are not sources
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
