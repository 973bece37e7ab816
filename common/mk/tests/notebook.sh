#!/bin/sh
# Runs docs/convlab-colab.ipynb in the students' archive, without a browser: with right solutions of m2 and m3, with
# skeletons, and without ConvLab.
#
# nbclient and the kernel come from the Python package index into build/notebook, once; without them, or without nvcc,
# the test is skipped.
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${CONVLAB_BUILD:-build}
cd "$top" || exit 1
. "$top/common/mk/tests/claims.sh"
wanted='nbclient==0.10.2 ipykernel==6.29.5'
site=$top/build/notebook/site

skip() { claims_skip "the notebook is not run: $1"; }

# run_in FOLDER: runs the notebook; its output goes to $scratch/out. Jupyter's own files stay in the scratch folder.
run_in() {
    (cd "$scratch" && HOME=$scratch PYTHONPATH=$site CONVLAB_OPTIONS='--quick --images 10,20 --seed 1' \
        python3 "$top/common/mk/tests/notebook.py" "${notebook:-$top/docs/convlab-colab.ipynb}" "$1") >"$scratch/out" 2>&1
    status=$?
    cat "$scratch/out"
    return $status
}

pictures() { grep -c '^\[image/svg+xml\]' "$scratch/out"; }

right_solutions_are_shown() {
    cp grader/tests/textbook/m2_flat.cu "$root/labs/m2-gpu-baseline/conv.cu"
    cp grader/tests/textbook/m3_halo.cu "$root/labs/m3-shared-memory/conv.cu"
    run_in "$root" && grep -q '^Score: 30 of the 30 ' "$scratch/out" && grep -q '^Score: 35 of the 35 ' "$scratch/out" &&
        [ "$(pictures)" -ge 3 ] &&
        grep -q '<td [^>]*>unit_shapes</td><td [^>]*>pass</td>' "$scratch/out"
}

skeletons_get_a_kind_message() {
    for lab in m2-gpu-baseline m3-shared-memory; do
        git show "HEAD:labs/$lab/conv.cu" >"$root/labs/$lab/conv.cu"
    done
    run_in "$root/labs" && grep -q 'is the function not implemented yet' "$scratch/out" &&
        grep -q '^No plots of m3: ' "$scratch/out" && [ "$(pictures)" -eq 0 ]
}

no_convlab_is_reported() {
    mkdir "$scratch/empty"
    ! run_in "$scratch/empty" && tail -n 1 "$scratch/out" | grep -q '^RuntimeError: ConvLab was not found in .*upload'
}

stored_outputs_are_refused() {
    sed 's/"outputs": \[\]/"outputs": [{"name": "stdout", "output_type": "stream", "text": []}]/' docs/convlab-colab.ipynb >"$scratch/stored.ipynb"
    notebook=$scratch/stored.ipynb run_in "$scratch"
    [ $? -eq 2 ] && grep -q 'cells with stored outputs: \[2, 4, 5, 7, 9\]' "$scratch/out"
}

[ -n "$(common/mk/find-cuda.sh origin)" ] || skip 'no nvcc'
if [ "$(cat "$site.wanted" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$site"
    # shellcheck disable=SC2086
    python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --target "$site" $wanted >"$scratch/pip" 2>&1 ||
        skip "pip cannot install nbclient ($(grep -m 1 '^ERROR' "$scratch/pip" | cut -c 1-100))"
    echo "$wanted" >"$site.wanted"
fi
common/mk/pack.sh handout "$build" "$scratch/handout.tar.gz" >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    exit 1
}
tar -C "$scratch" -xzf "$scratch/handout.tar.gz"
root=$scratch/convlab-handout

claim 'the archive has the notebook' cmp "$root/docs/convlab-colab.ipynb" docs/convlab-colab.ipynb
claim 'right solutions are graded, and their plots are shown' right_solutions_are_shown
claim 'a milestone that is not written yet gets a clear message' skeletons_get_a_kind_message
claim 'a folder without ConvLab is reported' no_convlab_is_reported
claim 'stored outputs are refused' stored_outputs_are_refused
claims_end
