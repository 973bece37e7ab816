#!/bin/sh
# program.sh ROW: builds and runs one program of a table, and writes its row for coverage.sh, which sets build, nvcc,
# work, limit and folder. Its verdict is one of
#
#   right     it ends with status 0 and reports no failure
#   waived    it reports that it does not run on this GPU
#   refused   the virtual GPU reports a missing function or feature
#   finding   a check found something
#   slow      it does not end within the limit
#   wrong     anything else
#   unbuilt   nvcc or the linker fails: a library or header is missing; or an edit of the row matches nothing
set -u
tab=$(printf '\t')
IFS=$tab read -r name flags arguments _ edits <<END
$1
END
[ "$arguments" != - ] || arguments=
own=$work/$(echo "$name" | tr / _)
[ ! -e "$own.row" ] || exit 0
rm -rf "$own"
mkdir -p "$own"
place=$folder/$name again=
# The edited copy is a folder beside the program, so that paths such as ../../data hold.
[ -z "$edits" ] || place=$folder/$name.reduced

# Copies the program and applies the edits to the copy. It also has the program's object files: make builds that of an edited
# source again, and must build all after another edit, except of data.
edit() {
    rm -rf "$place"
    cp -Rp "$folder/$name" "$place" || return 1
    rest="$edits ;; "
    while [ "$rest" ]; do
        one=${rest%% ;; *} rest=${rest#* ;; }
        file=$place/${one%%:*}
        sed "${one#*:}" "$file" >"$own/edited" || return 1
        if cmp -s "$own/edited" "$file"; then
            echo "error: the edit \`${one#*:}\` of ${one%%:*} matches nothing"
            return 1
        fi
        cat "$own/edited" >"$file"
        case $file in
        *.txt | *.in | *.config) ;;
        *) [ -e "${file%.*}.o" ] || again=-B ;;
        esac
    done
}

# Compiles the modules that the program loads, which the flags name as "KIND:SOURCE:FILE", KIND being fatbin or ptx. They are
# in the program's folder, where it looks for them.
modules=$(echo "$flags" | tr ' ' '\n' | sed -n '/^\(fatbin\|ptx\):/p')
flags=$(echo "$flags" | sed 's/\(fatbin\|ptx\):[^ ]*//g')
modules_make() {
    for module in $modules; do
        files=${module#*:}
        "$nvcc" -w -I"$folder/Common" -gencode arch=compute_80,code=compute_80 "-${module%%:*}" \
            "$place/${files%%:*}" -o "$place/${files#*:}" >"$own/built" 2>&1 || return 1
    done
}

compile() {
    if [ "$edits" ] && ! edit >"$own/built" 2>&1; then
        return 1
    elif [ "$flags" = make ]; then
        timeout 300 make -s $again -C "$place" CC="$nvcc" ARCH=sm_80 </dev/null >"$own/built" 2>&1 || return 1
        made=$(sed -n 's/^\(program\|EXE\) *= *\([^ ]*\).*/\2/p' "$place/Makefile" | head -n 1)
        program=$place/${made:-main}
    else
        program=$own/program
        modules_make || return 1
        # shellcheck disable=SC2046,SC2086
        case " $flags " in
        *.cu\ * | *.c\ * | *.cpp\ *) sources= ;;
        *) sources=$(cd "$place" && ls ./*.cu ./*.cpp ./*.c 2>/dev/null) ;;
        esac
        (cd "$place" && "$nvcc" -w -std=c++17 -I"$folder/Common" -I. -Xcompiler -fopenmp $(echo "$flags" | sed "s|@|$folder|g") \
            $sources -o "$program") >"$own/built" 2>&1
    fi
}

run() { # COMMAND...: output in out and err
    # shellcheck disable=SC2086
    (cd "$place" && timeout "$limit" "$@" "$program" $arguments) >"$own/out" 2>"$own/err" </dev/null
}

verdict() { # STATUS
    if [ "$1" = 124 ]; then
        echo slow
    elif grep -q 'virtual GPU: .*does not have\|virtual GPU: .*not supported\|virtual GPU: .*cannot be executed\|virtual GPU: .*there is no\|is not there' "$own/err"; then
        echo refused
    elif [ -e "$own/faults.tsv" ] && [ "$(wc -l <"$own/faults.tsv")" -gt 1 ]; then
        echo finding
    elif grep -qi 'waiv' "$own/out" "$own/err"; then
        echo waived
    elif [ "$1" = 0 ] && ! grep -q '\bFAIL\b\|FAILED\|Test failed\|mismatch!' "$own/out"; then
        echo right
    else
        echo wrong
    fi
}

# Prints the message of the program or of a tool.
reason() { # VERDICT
    case $1 in
    unbuilt) grep -m 1 -E 'error|fatal|undefined|cannot find' "$own/built" ;;
    refused) grep -m 1 'virtual GPU: ' "$own/err" ;;
    finding) sed -n 2p "$own/faults.tsv" | cut -f 1-3 ;;
    waived) grep -m 1 -i -h 'waiv' "$own/out" "$own/err" ;;
    wrong) (cat "$own/err" && grep -m 1 '\bFAIL\b\|FAILED\|Test failed\|mismatch!' "$own/out") | tail -n 1 ;;
    esac | tr '\t|' '  ' | sed "s|$folder/||g; s|$own/||g; s|$work/||g" | cut -c 1-110
}

seconds=- gpu=-
if compile; then
    if [ -e /dev/nvidiactl ]; then
        run
        gpu=$(verdict $?)
    fi
    begin=$(date +%s%N)
    run "$build/vgpu-run" --faults "$own/faults.tsv"
    got=$(verdict $?)
    tenths=$((($(date +%s%N) - begin) / 100000000))
    seconds=$((tenths / 10)).$((tenths % 10))
else
    got=unbuilt
fi
printf '%s\t%s\t%s\t%s\t%s\n' "$got" "$name" "$seconds" "$gpu" "$(reason "$got")" >"$own.row"
for module in $modules; do rm -f "$place/${module##*:}"; done
rm -rf "$own"
[ -z "$edits" ] || rm -rf "$place"
