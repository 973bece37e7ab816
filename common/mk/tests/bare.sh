#!/bin/sh
# Runs the README's commands on a bare machine: a Debian, bootstrapped into a folder with only make and git, with a
# clone of this checkout's committed state. Needs root, debootstrap and the package archives for which apt and pip are
# configured on this machine.
#
#   bare.sh [SUITE [COMMAND]]       bookworm, make demo
#
# Only committed files are tested; CARRIED=FOLDER is copied to /carried. The bootstrapped system is kept as
# build/bare/SUITE.tar; the last run's system stays in build/bare/SUITE for inspection.
set -eu
suite=${1:-bookworm} command=${2:-make demo}
top=$(cd "$(dirname "$0")/../../.." && pwd)
base=$top/build/bare
root=$base/$suite
[ "$(id -u)" = 0 ] || { echo 'bare-check: only root can bootstrap a system (hint: sudo make bare-check)' >&2; exit 2; }
command -v debootstrap >/dev/null || { echo 'bare-check: no debootstrap (hint: apt-get install debootstrap)' >&2; exit 2; }
mkdir -p "$base"

mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
if [ ! -e "$root.tar" ]; then
    echo "bare-check: bootstrapping $suite"
    rm -rf "$root"
    debootstrap --variant=minbase --include=make,git,ca-certificates "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
        tail -n 5 "$root.log" >&2
        exit 2
    }
    rm -rf "$root"/var/cache/apt/archives/*.deb
    tar -C "$root" -cf "$root.tar.part" . && mv "$root.tar.part" "$root.tar"
fi
rm -rf "$root"
mkdir -p "$root"
tar -C "$root" -xf "$root.tar"

# Copies only the configuration that gives access to the package archives.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || cp -L "$file" "$root$file"
done
apt-config dump | grep -E '^Acquire::(Check|http|https|Retries)' >"$root/etc/apt/apt.conf.d/99host" || :
git clone -q --no-hardlinks "$top" "$root/convlab"
[ -z "${CARRIED:-}" ] || cp -r "$CARRIED" "$root/carried"

cat >"$root/in-here.sh" <<EOF
cd /convlab
if command -v gcc nvcc python3 bwrap; then echo 'bare-check: this system is not bare' >&2; exit 2; fi
exec $command
EOF
# Enters the system in a mount namespace of its own, so that the sandbox works in it.
cat >"$base/enter.sh" <<'EOF'
set -eu
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmp tmp
mkdir -p mnt
pivot_root . mnt
cd /
umount -l /mnt
exec sh /in-here.sh
EOF
begin=$(date +%s)
# Prefixes each line with the elapsed seconds, to show which steps take long.
{
    status=0
    # shellcheck disable=SC2046
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
        $(env | grep -E '^(PIP_[A-Z_]*|[a-z]*_proxy|[A-Z]*_PROXY|SSL_CERT_FILE)=[^ ]*$' || :) \
        unshare --mount --pid --fork sh "$base/enter.sh" "$root" || status=$?
    times >"$base/times"
    echo $status >"$base/status"
} 2>&1 | while IFS= read -r line; do printf '%4d s  %s\n' $(($(date +%s) - begin)) "$line"; done
status=$(cat "$base/status")
echo "bare-check: $suite: $command: exit status $status after $(($(date +%s) - begin)) s; CPU time, user and system: $(tail -n 1 "$base/times");" \
    "load of this machine: $(cut -d ' ' -f 1-3 /proc/loadavg)"
[ "$status" = 0 ] || exit 1
[ "$command" = 'make demo' ] || exit 0

# All milestones are graded. A skipped check must have a reason: no GPU, or (from m10 on) a size that the demo omits.
bad=0
for milestone in $(cd "$root/convlab/labs" && ls -d m[0-9]* | cut -d- -f1); do
    result=$root/convlab/build/report/$milestone/result.json
    [ -e "$result" ] || { echo "$milestone: not graded"; bad=1; continue; }
    awk -F'"' -v m="$milestone" '
        $2 == "score" { score = $3 } $2 == "max_score" { most = $3 }
        $2 == "name" { name = $4 } $2 == "status" { skipped = $4 == "skip"; failed += $4 == "fail" }
        $2 == "message" && skipped { why = why "; " name " skipped: " $4; bad += $4 !~ (m ~ /^m..$/ ? "no GPU is available|not checked in this run .--images|not judged in this run" : "no GPU is available") }
        END { gsub(/[^0-9.]/, "", score); gsub(/[^0-9.]/, "", most)
              printf "%s: %s of %s points%s\n", m, score, most, why; exit bad || failed }' "$result" || bad=1
done
exit $bad
