# Shared by the test scripts, for `.`: claims, counted as Criterion counts its tests. They need $scratch, a folder.
tested=0 good=0
claims_in= # "apart": each claim in a separate shell
said=$scratch/said

apart() { ("$@"); }

# claim TEXT COMMAND...: the command succeeds; its output is in $said.
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

# The last line, and the exit status.
claims_end() {
    echo "[====] Synthesis: Tested: $tested | Passing: $good | Failing: $((tested - good)) | Crashing: 0"
    [ "$tested" -eq "$good" ]
}
