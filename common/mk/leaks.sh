#!/bin/sh
# Checks that a folder contains no part of the solutions.
#
#   leaks.sh FOLDER REFERENCE_FOLDER [PRIVATE_FOLDER]
#   leaks.sh --list REFERENCE_FOLDER      prints the lines to look for
#
# Searches every file of the folder for every nontrivial line between BEGIN SOLUTION and END SOLUTION of the references:
# in text files with spaces squeezed, in other files among their printable strings. A line is trivial if it has fewer
# than 24 characters, includes a header, is only the head of a loop from 0 to a size in steps of 1, or is part of a line
# of a skeleton, of the contract, or of a function's head on an assignment page. Prints the lines that it finds; exit
# status 1 if it finds any, 2 if the references have no line to search for.
#
# The folder must not contain any file of PRIVATE_FOLDER, which has an instructor's models and lists of shapes, under
# any name, nor a shape of such a list.
set -u
folder=$1 reference=$2 private=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

squeeze() { sed 's/[[:space:]][[:space:]]*/ /g; s/^ //; s/ $//' "$@"; }

for source in "$reference"/*/*.c*; do
    awk '/END SOLUTION/ {inside = 0} inside && !/\/\/~/ {print} /BEGIN SOLUTION/ {inside = 1}' "$source" >>"$work/lines"
    awk -f "$here/skeleton.awk" "$source" >>"$work/public"
done
# the heads of functions that assignment pages show
grep -h '^[A-Za-z_0-9 *,(]*float \*[A-Za-z_0-9 *,]*)$' "$here"/../../labs/*/README.md >>"$work/public"
squeeze "$work/public" "$here/../conv.h" "$here/../gemm.h" | sort -u >"$work/trivial"
squeeze "$work/lines" | awk 'length($0) >= 24 && !/^#include/ &&
    !/^for \(int [a-z]+ = 0; [a-z]+ < [A-Z][A-Z_]*; [a-z]+\+\+\)( \{)?$/' | sort -u |
    awk 'NR == FNR {public = public "\n" $0; next} !index(public, $0)' "$work/trivial" - >"$work/secret"
[ -s "$work/secret" ] || {
    echo "leaks: no solution to look for in $reference" >&2
    exit 2
}

if [ "$folder" = --list ]; then
    cat "$work/secret"
    exit 0
fi

find "$folder" -type f | sort | while read -r file; do
    case $file in
    *.gz) gzip -dc "$file" | strings ;;
    *) if grep -qI . "$file"; then cat "$file"; else strings -n 16 "$file"; fi ;;
    esac | squeeze | grep -n -F -f "$work/secret" | sed "s|^|$file:|"
done >"$work/found"

if [ -n "$private" ]; then
    find "$private" -type f -size +0 -exec sha256sum {} + | cut -d ' ' -f 1 | sort -u >"$work/private"
    [ -s "$work/private" ] || {
        echo "leaks: no file to look for in $private" >&2
        exit 2
    }
    find "$folder" -type f -exec sha256sum {} + | grep -F -f "$work/private" | sed 's/^[0-9a-f]*  \(.*\)/\1: a private file/' >>"$work/found"
    # Searches for a row's six numbers, with any label and any separators.
    find "$private" -name '*.tsv' -exec awk -F '\t' 'FNR == 1 {split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next}
        at["B"] && at["M"] && at["C"] && at["H"] && at["W"] && at["K"] {
            print $at["B"], $at["M"], $at["C"], $at["H"], $at["W"], $at["K"]}' {} + | sort -u >"$work/rows"
    [ ! -s "$work/rows" ] || find "$folder" -type f | while read -r file; do
        tr '\t,;(){}[]' ' ' <"$file" | squeeze 2>/dev/null | grep -a -n -w -F -f "$work/rows" |
            sed "s|^|$file: a private shape: |"
    done >>"$work/found"
fi
cat "$work/found"
[ ! -s "$work/found" ]
