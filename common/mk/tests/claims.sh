# Claims of test scripts, counted like Criterion's tests. Include this file with `.`. $scratch must be a folder.
tested=0 good=0
claims_in= # "apart": each claim in a separate shell
said=$scratch/said

apart() { ("$@"); }

# claim TEXT COMMAND...: expects the command to succeed; its output goes to $said.
claim() {
    text=$1
    shift
    tested=$((tested + 1))
    [ -z "${TIMES:-}" ] || date +"%T $text"
    if $claims_in "$@" >"$said" 2>&1; then
        good=$((good + 1))
    else
        echo "FAILED: $text"
        tail -n 30 "$said" | cut -c 1-300
    fi
}

# claims_end: prints the last line and returns the exit status.
claims_end() {
    echo "[====] Synthesis: Tested: $tested | Passing: $good | Failing: $((tested - good)) | Crashing: 0"
    [ "$tested" -eq "$good" ]
}
