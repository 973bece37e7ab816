#!/bin/sh
# Makes the man pages of grader, of its commands, of vprof and of vgpu-run from their --help:
#
#   man-pages.sh BUILD VERSION     writes BUILD/man/*.1
#
# help2man turns the text into a page. common/mk/man/PROGRAM.h2m has the sections that --help does not print.
# --run PROGRAM prints a program's help for help2man: options in lines of any length, and headings without indentation.
if [ "$1" = --run ]; then
    shift
    ARGP_HELP_FMT=rmargin=4000 "$@" | sed 's/^ \([A-Z].*:\)$/\1/'
    exit
fi

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
version=$2
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
out=$build/man

page() { # NAME SUMMARY PROGRAM [COMMAND]
    name=$1 summary=$2 extra=$here/man/$1.h2m
    shift 2
    help2man --no-info --name="$summary" --manual='User Commands' --source="ConvLab $version" --no-discard-stderr \
        --version-string="$name $version" --help-option="--run $build/$* --help" \
        $([ ! -e "$extra" ] || echo "--include=$extra") --output="$out/$name.1" "$0" ||
        exit 1
}

command -v help2man >/dev/null || {
    echo "man-pages: help2man is not installed (hint: apt-get install help2man)" >&2
    exit 2
}
rm -rf "$out" && mkdir -p "$out" || exit 2
page vgpu-run 'run a CUDA program without a GPU, and check its kernels' vgpu-run
page vprof "profile a CUDA program, and print nvprof's tables" vprof
page grader 'grade milestones of the lab' grader
sed -n 's/^COMMAND(\([a-z]*\), "\(.*\)")$/\1 \2/p' "$here/../../grader/main/commands.def" |
    while read -r command summary; do page "grader-$command" "$summary" grader "$command"; done || exit 1
