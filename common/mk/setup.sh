#!/bin/sh
# Lists and installs the packages of the table packages.tsv.
#
#   setup.sh doctor             lists installed and missing packages, and the features that missing packages
#                               would provide
#   setup.sh need WHAT...       exit 1 with the command to run if a package for WHAT is missing
#   setup.sh install WHAT...    install the missing packages (as root or through sudo without a password)
#
# WHAT is a word of the table's column "for": build, test, docs, bench, slurm, browser, arm64. "build" also installs the
# optional packages for "extra", and NVIDIA's compiler if none exists (toolkit.sh, with packages for "cuda"). If these
# cannot be installed, setup reports the missing features and continues.
set -u
here=$(dirname "$0")
table=$here/packages.tsv
tab=$(printf '\t')

# is_here PROBE: succeeds if the machine has the files of a package.
is_here() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    file:*) [ -e "${1#file:}" ] ;;
    header:*)
        # Query the compiler, which may search several prefixes; without a compiler, look in Debian's folders.
        if command -v gcc >/dev/null 2>&1; then
            printf '#include <stddef.h>\n#include <stdio.h>\n#include <%s>\n' "${1#header:}" |
                gcc -E -x c - >/dev/null 2>&1
        else
            [ -e "/usr/include/${1#header:}" ]
        fi ;;
    pip) python3 -m pip --version >/dev/null 2>&1 ;;
    llvm) [ -n "$("$here/find-llvm.sh" llvm)" ] ;;
    data) [ -e "${CONVLAB_DATA:-/usr/share/datasets/fashion-mnist}/t10k-images-idx3-ubyte.gz" ] ;;
    esac
}

# How this machine installs packages. The table's first column has Debian's and Ubuntu's names; dnf and pacman have
# their own columns, in which "-" means that these systems do not package it. Neither dnf nor pacman was tested.
if command -v apt-get >/dev/null 2>&1; then
    manager=apt command='apt-get install -y'
elif command -v dnf >/dev/null 2>&1; then
    manager=dnf command='dnf install -y'
elif command -v pacman >/dev/null 2>&1; then
    manager=pacman command='pacman -S --needed --noconfirm'
else
    manager= command=
fi

rows() { tail -n +2 "$table"; }

# missing WHAT...: prints the missing packages for WHAT on one line.
missing() {
    rows | while IFS=$tab read -r package probe kind dnf pacman without; do
        case " $* " in *" $kind "*) ;; *) continue ;; esac
        is_here "$probe" && continue
        case $manager in dnf) name=$dnf ;; pacman) name=$pacman ;; *) name=$package ;; esac
        if [ "$name" = - ]; then
            echo "setup: $manager has no package for Debian's $package; without it: $without" >&2
        else
            printf '%s ' "$name"
        fi
    done
}

doctor() {
    cuda=$("$here/find-cuda.sh")
    printf '%-30s %-8s %-8s %s\n' package for status 'without it'
    rows | while IFS=$tab read -r package probe kind dnf pacman without; do
        if is_here "$probe"; then status=ok without=; else status=MISSING; fi
        printf '%-30s %-8s %-8s %s\n' "$package" "$kind" "$status" "$without"
    done
    origin=$("$here/find-cuda.sh" origin)
    if [ -n "$origin" ]; then
        printf '%-30s %-8s %-8s %s\n' 'CUDA Toolkit (nvcc)' cuda ok \
            "$(echo "$origin" | awk -F'\t' '{ print $2 " in " $1 ", " $3 }')"
    else
        printf '%-30s %-8s %-8s %s\n' 'CUDA Toolkit (nvcc)' cuda MISSING \
            'conv.cu cannot be compiled (hint: make setup)'
    fi
    "$here/find-cuda.sh" old | while IFS=$tab read -r folder version; do
        printf '%-30s %-8s %-8s %s\n' 'CUDA Toolkit (nvcc)' cuda 'too old' "$version in $folder is not used"
    done
    if [ -e "$cuda/include/cupti.h" ] || [ -e "$cuda/extras/CUPTI/include/cupti.h" ]; then
        printf '%-30s %-8s %-8s %s\n' 'CUPTI (headers)' cuda ok ''
    else
        printf '%-30s %-8s %-8s %s\n' 'CUPTI (headers)' cuda MISSING 'vprof cannot profile a real GPU'
    fi
    if command -v ncu >/dev/null 2>&1 || [ -x "$cuda/bin/ncu" ]; then
        printf '%-30s %-8s %-8s %s\n' 'Nsight Compute (ncu)' cuda ok ''
    else
        printf '%-30s %-8s %-8s %s\n' 'Nsight Compute (ncu)' cuda none 'vprof has no metrics of a real GPU'
    fi
    if [ -e /dev/nvidiactl ]; then
        printf '%-30s %-8s %-8s %s\n' 'NVIDIA GPU' cuda ok ''
    else
        printf '%-30s %-8s %-8s %s\n' 'NVIDIA GPU' cuda none 'no timing on real hardware (m1 needs none)'
    fi
    lacking=$(missing build extra test docs bench)
    [ -z "$lacking" ] && return 0
    printf '\nto install what is missing:\n    %s%s %s\n' "$sudo" "$command" "$lacking"
}

install() {
    case " $* " in
    *' build '*) more=1 wanted=$(missing extra)$(packages_for_nvcc) ;;
    *) more= wanted= ;;
    esac
    needed=$(missing "$@")
    if [ -z "$needed$wanted" ]; then
        :
    elif [ -z "$manager" ]; then
        echo "setup: missing packages: $needed$wanted(hint: install them with this system's package manager; the names are Debian's)" >&2
    elif ! have_right; then
        echo "setup: missing packages and no right to install them (hint: run, or ask the administrator to run: sudo $command $needed$wanted)" >&2
    elif ! install_these $needed $wanted; then
        # A package that cannot be installed does not prevent the others.
        for package in $needed $wanted; do
            install_these "$package" || echo "setup: installing $package failed (hint: run: $sudo$command $package)" >&2
        done
    fi
    [ -z "$more" ] || install_more
    [ -z "$(missing "$@" 2>/dev/null)" ]
}

# Optional packages: reports the missing ones, and installs NVIDIA's compiler.
install_more() {
    rows | while IFS=$tab read -r package probe kind dnf pacman without; do
        [ "$kind" != extra ] || is_here "$probe" || echo "setup: continuing without $package: $without" >&2
    done
    [ -n "$("$here/find-cuda.sh" origin)" ] || "$here/toolkit.sh" ||
        echo 'setup: continuing without nvcc: GPU milestones are skipped' >&2
}

# Packages to fetch NVIDIA's compiler, if none exists. pip follows the user's configuration; if pip cannot be installed,
# python3 alone suffices.
packages_for_nvcc() {
    [ -z "$("$here/find-cuda.sh" origin)" ] || return
    if have_right || ! command -v python3 >/dev/null 2>&1; then missing cuda; fi
}

# Succeeds if packages may be installed; sets $run to the prefix of the command.
have_right() {
    run=
    [ "$(id -u)" = 0 ] && return 0
    run='sudo -n'
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null
}

install_these() { # PACKAGE...
    echo "setup: installing: $*"
    log=$(mktemp)
    # The first attempt usually fails because of an old package list, so update it and try again.
    if case $manager in
        apt) update apt-get update && $run env DEBIAN_FRONTEND=noninteractive $command --no-install-recommends "$@" ;;
        dnf) $run $command --setopt=install_weak_deps=False "$@" ;;
        pacman) update pacman -Sy && $run $command "$@" ;;
        esac >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
}

# Updates the package list, at most once.
update() { # COMMAND...
    [ -n "${updated:-}" ] && return 0
    $run "$@" && updated=1
}

if [ "$(id -u)" = 0 ]; then sudo=; else sudo='sudo '; fi
verb=${1:-doctor}
[ $# -gt 0 ] && shift
case $verb in
doctor) doctor ;;
need)
    lacking=$(missing "$@")
    [ -z "$lacking" ] && exit 0
    echo "setup: missing packages: $lacking(hint: run: make setup${command:+, or $sudo$command $lacking})" >&2
    exit 1 ;;
install) install "$@" ;;
*)
    echo "setup: unknown verb: $verb: expected doctor, need or install" >&2
    exit 2 ;;
esac
