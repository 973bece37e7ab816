#!/bin/sh
# Makes README.md's pictures in docs/images: a grading of a wrong m3 in a terminal, and the annotated source and Op
# Times of a right one. Both are the textbook's m3; the wrong one lacks the barrier after its loads.
#
#   BUILD=build common/mk/pictures.sh
set -eu
root=$PWD
work=$root/$BUILD/pictures
images=$root/docs/images

for program in nvcc:"${NVCC:-$CUDA_HOME/bin/nvcc}" chromium:chromium; do
    command -v "${program#*:}" >/dev/null || { echo "pictures.sh: ${program%%:*} not found (hint: run make doctor)" >&2; exit 2; }
done
mkdir -p "$work"
cd "$work"

# ---- a terminal ----
awk '/__syncthreads/ && !found { found = 1; next } { print }' "$root/grader/tests/textbook/m3_halo.cu" >conv.cu
"$root/labs/grader" m3 --source conv.cu --quick --seed 1 --report wrong >wrong.txt 2>&1 && exit 1
{
    echo '$ make m3 && ./grader m3 --quick'
    awk '/^        [|]/ { map = 1 } map && !/^        [|]/ { exit } { print }' wrong.txt # to the end of the first map
} | awk -f "$root/common/mk/terminal.awk" >"$images/terminal.svg"

# ---- a page in a browser ----
cp "$root/grader/tests/textbook/m3_halo.cu" conv.cu
"$root/labs/grader" m3 --source conv.cu --seed 1 --profile --report right >right.txt
cp right/plots/op-times.svg "$images/op-times.svg"
# headless Chromium draws nothing if the address points to a part of the page, except in a frame
echo '<body style="margin:0"><iframe src="right/report.html#L22" style="width:1000px;height:345px;border:0"></iframe>' >frame.html
HOME=$work timeout 60 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,345 \
    --virtual-time-budget=3000 --allow-file-access-from-files --screenshot="$images/annotated-source.png" \
    "file://$work/frame.html" 2>/dev/null
ls -l "$images"
