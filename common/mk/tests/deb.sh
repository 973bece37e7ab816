#!/bin/sh
# Makes the Debian package of the virtual GPU, unpacks it elsewhere, and uses it. (The package is not installed with
# apt.)
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${CONVLAB_BUILD:-build}
cd "$top" || exit 1
. "$top/common/mk/tests/claims.sh"
package=$scratch/vgpu.deb root=$scratch/root

field() { dpkg-deb --field "$package" "$1"; }
owned_by_root() { ! dpkg-deb --contents "$package" | grep -qv ' root/root '; }
needs_nothing_of_the_build() { ! grep -rlF "$top" "$root"; }
refused() { # WORD COMMAND...: expects the command to fail with one line that has the word
    word=$1
    shift
    ! "$@" 2>"$scratch/line" && grep -q "$word" "$scratch/line" && [ "$(wc -l <"$scratch/line")" -eq 1 ]
}
without_tools() { refused dpkg-dev env PATH="$scratch/empty" /bin/sh common/mk/deb.sh "$build" 1 "$package"; }

if ! command -v dpkg-shlibdeps >/dev/null; then
    echo 'skip: no package is made: dpkg-shlibdeps is missing (hint: make packages on Debian, with dpkg-dev)'
else
    claim 'make deb makes a package' common/mk/deb.sh "$build" 1.2~test "$package"
    claim 'the package has that version' [ "$(field Version)" = 1.2~test ]
    claim 'the package depends on the packages of its libraries' sh -c "echo '$(field Depends)' | grep -q 'libc6 .*libcyaml1'"
    claim 'root owns all files' owned_by_root
    dpkg-deb --extract "$package" "$root"
    claim 'no file contains the path of the build folder' needs_nothing_of_the_build
    if command -v help2man >/dev/null; then
        claim 'both programs have a man page' test -s "$root/usr/share/man/man1/vgpu-run.1.gz" -a -s "$root/usr/share/man/man1/vprof.1.gz"
    else
        echo 'skip: man pages of the package: help2man is not installed'
    fi
    if [ -e "$build/vgpu/libcudart.so.13" ]; then
        claim 'the unpacked vgpu-run runs a program' \
            "$root/usr/bin/vgpu-run" "$build/vgpu/tests/programs/vector_add"
        claim 'the unpacked vprof profiles it' sh -c "'$root/usr/bin/vprof' --device virtual '$build/vgpu/tests/programs/vector_add' 2>&1 |
            grep -q 'GPU activities'"
    fi
    mkdir "$scratch/empty"
    for tool in dirname mktemp rm; do ln -s "$(command -v $tool)" "$scratch/empty/"; done
    claim 'without the tools, one line names the package to install' without_tools
fi
claims_end
