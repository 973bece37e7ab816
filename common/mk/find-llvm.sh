#!/bin/sh
# Prints the llvm-config and the clang to build the virtual GPU's translator with: an LLVM of a known version, with
# headers and shared library, and a clang whose bitcode this LLVM can read. Prints nothing if LLVM or clang is missing.
#
#   find-llvm.sh           "llvm-config clang"
#   find-llvm.sh llvm      only the llvm-config, even without a clang
set -u

# usable CONFIG: succeeds if this is the llvm-config of an LLVM that the translator knows.
usable() {
    version=$("$1" --version 2>/dev/null) || return 1
    version=${version%%.*}
    [ "$version" -ge 14 ] && [ "$version" -le 19 ] && [ -e "$("$1" --includedir)/llvm-c/Orc.h" ] &&
        "$1" --link-shared --libs >/dev/null 2>&1
}

# not_newer CLANG: succeeds if its bitcode has LLVM's version or an older one.
not_newer() {
    major=$("$1" -dumpversion 2>/dev/null) || return 1
    [ "${major%%.*}" -le "$version" ]
}

for config in llvm-config llvm-config-19 llvm-config-18 llvm-config-17 llvm-config-16 llvm-config-15 llvm-config-14; do
    usable "$config" || continue
    if [ "${1:-}" = llvm ]; then
        echo "$config"
        exit
    fi
    for clang in "$("$config" --bindir)/clang" "clang-$version" clang; do
        if not_newer "$clang"; then
            echo "$config $clang"
            exit
        fi
    done
done
