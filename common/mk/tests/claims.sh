# Claims of test scripts, counted as Criterion counts tests. Include this file with `.`. It makes the folder $scratch (in
# $scratch_in, if that is set) and removes it at the end.
tested=0 good=0
claims_in=   # "apart": each claim in a separate shell
claims_show= # files that a failed claim shows, too
scratch=$(mktemp -d -p "${scratch_in:-${TMPDIR:-/tmp}}") || exit 1
trap 'rm -rf "$scratch"' EXIT
said=$scratch/said

apart() { ("$@"); }

passes() { tested=$((tested + 1)) good=$((good + 1)); }
fails() { # TEXT
    tested=$((tested + 1))
    echo "FAILED: $1"
}

# claim TEXT COMMAND...: expects the command to succeed; its output goes to $said.
claim() {
    text=$1
    shift
    [ -z "${TIMES:-}" ] || date +"%T $text"
    if $claims_in "$@" >"$said" 2>&1; then
        passes
    else
        fails "$text"
        # shellcheck disable=SC2086
        tail -q -n 30 "$said" $claims_show | cut -c 1-300
    fi
}

# claims_end: prints the last line and returns the exit status.
claims_end() {
    echo "[====] Synthesis: Tested: $tested | Passing: $good | Failing: $((tested - good)) | Crashing: 0"
    [ "$tested" -eq "$good" ]
}

# claims_skip REASON: ends the script without a test.
claims_skip() {
    echo "skipped: $1"
    claims_end
    exit 0
}
