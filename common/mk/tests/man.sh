#!/bin/sh
# Makes the man pages again: every program and command has a page, each page has every option of --help, and groff
# accepts it.
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
cd "$top" || exit 1
. "$top/common/mk/tests/claims.sh"
mkdir "$scratch/build"
for program in grader vprof vgpu-run vgpu-device vgpu; do ln -s "$build/$program" "$scratch/build/$program"; done
pages=$scratch/build/man

lacks() { # PAGE PROGRAM [COMMAND]: prints the options that the page lacks
    page=$1
    shift
    ARGP_HELP_FMT=rmargin=4000 "$@" --help | grep -o '^ .*' | grep -o -e ' --[a-z][a-z-]*' | sort -u | while read -r option; do
        grep -qe "$(printf '%s' "$option" | sed 's/-/\\\\-/g')" "$page" || echo "$option"
    done
}
complete() { [ -z "$(lacks "$@")" ]; }
commands() { sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' grader/main/commands.def; }
each_command() {
    for command in $(commands); do
        complete "$pages/grader-$command.1" "$build/grader" "$command" || { echo "$command" && return 1; }
    done
}
silent() { [ -z "$(for page in "$pages"/*.1; do groff -man -ww -z "$page" 2>&1; done)" ]; }
planted() { # a page without an option
    sed 's/\\-\\-quick/\\-\\-slow/g' "$pages/grader.1" >"$scratch/planted.1"
    [ "$(lacks "$scratch/planted.1" "$build/grader" | tr -d ' \n')" = --quick ]
}

if ! command -v help2man >/dev/null; then
    echo 'skip: no man pages are made: help2man is not installed'
else
    claim 'make man makes the pages' common/mk/man-pages.sh "$scratch/build" 1.2~test
    claim 'the pages state the version' grep -q '1[.]2~test' "$pages/grader.1"
    claim 'vgpu-run has all options' complete "$pages/vgpu-run.1" "$build/vgpu-run"
    claim 'vprof has all options' complete "$pages/vprof.1" "$build/vprof"
    claim 'grader has all options' complete "$pages/grader.1" "$build/grader"
    claim 'each command has a page with all options' each_command
    claim 'a page that lacks an option is found' planted
    if command -v groff >/dev/null; then
        claim 'groff accepts the pages without a warning' silent
    else
        echo 'skip: the pages are not formatted: groff is not installed'
    fi
fi
claims_end
