#!/bin/sh
# Tests how shells complete the grader's command line, each with the script that `grader completion` prints.
#
#   CONVLAB_BUILD=build completion.sh
#
# zsh and fish are tested if they are installed. Because zsh completes only in a terminal, functions that print their
# arguments replace zsh's own.
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$(dirname "$0")/../../.." && pwd)
. "$top/common/mk/tests/claims.sh"
cd "$top/labs" || exit 1

# bash_completes WORD..., zsh_completes WORD...: print the completions of the last word.
bash_completes() {
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _convlab_grader; echo "${COMPREPLY[*]}"' \
        bash "$scratch/bash" "$@" 2>&1
}
fish_completes() {
    fish --no-config -c "source $scratch/fish; complete -C '$*'" 2>&1 | cut -f 1 | sort | tr '\n' ' ' | sed 's/ $//'
}
zsh_completes() {
    zsh -f -c 'compdef() { :; }; functions[compdef]=:; . "$1"; shift
        _describe() { print -l -- ${commands%%:*}; }; compadd() { shift; print -l -- "$@"; }
        _arguments() { print -l -- "$@"; }
        words=("$@") CURRENT=$#; _convlab_grader' zsh "$scratch/zsh" "$@" 2>&1
}
check() { # check SHELL WHAT WRONG: passes if WRONG is empty.
    if [ -z "$3" ]; then passes; else fails "$1: $2: $3"; fi
}
# has SHELL EXPECTED WORD...
has() {
    shell=$1 expected=$2
    shift 2
    found=$("${shell}_completes" "$@")
    check "$shell" "$*" "$([ "$found" = "$expected" ] || echo "found '$found', expected '$expected'")"
}
# Succeeds if one of the completions matches.
offers() { # SHELL PATTERN WORD...
    shell=$1 pattern=$2
    shift 2
    check "$shell" "$*" "$("${shell}_completes" "$@" | grep -q -- "$pattern" || echo "nothing like '$pattern'")"
}

for shell in bash zsh fish; do
    "$build/grader" completion $shell >"$scratch/$shell" || exit 1
    command -v $shell >/dev/null || { echo "skipped: $shell is not installed"; continue; }
    check $shell 'the syntax' "$($shell -n "$scratch/$shell" 2>&1)"
done

# An option's value is a word of its table, a file or a folder; a command may follow several words.
has bash 'm3' grader m3
has bash 'explain export' grader ex
has bash 'race_global' ./grader explain race_gl
has bash '--engine' grader m3 --eng
has bash 'interpreter' grader m3 --engine inter
has bash 'interpreter' grader m3 --engine = inter
has bash 'auto gpu virtual' grader m3 --device ''
has bash 'Makefile' grader class --roster Make
has bash 'm3-shared-memory' grader plots m3
has bash '' grader m3 --seed ''
has bash 'bash zsh fish' grader completion ''
for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' ../grader/main/commands.def); do
    offers bash "$command" grader "$command"
    offers bash --help grader "$command" --h
done
if command -v fish >/dev/null; then
    has fish 'explain export' grader ex
    has fish 'race_global' grader explain race_gl
    has fish 'interpreter' grader m3 --engine inter
    has fish '--format' ./grader report --form
fi
if command -v zsh >/dev/null; then
    offers zsh '^m3$' grader m
    offers zsh '^explain$' grader e
    offers zsh '^--engine=\[.*\]:engine:(auto interpreter native)$' grader m3 --e
    offers zsh '^--roster=\[.*:_files$' grader class --r
fi
claims_end && [ "$tested" -gt 12 ]
