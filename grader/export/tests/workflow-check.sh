#!/bin/sh
# Runs the exported workflow on a minimal Debian (common/mk/tests/bare.sh), where the workflow itself installs a
# compiler and, for GPU milestones, nvcc. Grades a right m1, a right m3, and an m2 that does not compile, which fails
# the job but no other milestone.
#
#   CONVLAB_BUILD=build workflow-check.sh
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
cd "$top"
work=$build/workflow-check
rm -rf "$work"
mkdir -p "$work/repository/labs"
"$build/grader" export github-actions m1,m2,m3 --options=--quick --out "$work/repository"
for folder in m1-cpu-conv m2-gpu-baseline m3-shared-memory; do
    cp -r "reference/$folder" "$work/repository/labs/"
done
echo '#error not yet' >"$work/repository/labs/m2-gpu-baseline/conv.cu"
cp grader/export/tests/run-workflow.sh "$work/"
cat >"$work/run.sh" <<'END'
cd /carried/repository && sh ../run-workflow.sh /carried/temp
status=$?
[ $status = 1 ] || { echo "workflow-check: exit status $status, expected 1, since m2 does not compile" >&2; exit 3; }
for grade in 'm1 40' 'm2 0' 'm3 45'; do
    set -- $grade
    grep "^	\"score\":	$2," "/carried/temp/reports/$1/result.json" || {
        echo "workflow-check: $1 has not $2 points:" >&2
        grep '"score"\|"message"' "/carried/temp/reports/$1/result.json" >&2
        exit 3
    }
    grep -q "^# .*$1" /carried/temp/summary.md || { echo "workflow-check: $1 is not on the run's page" >&2; exit 3; }
done
END
CARRIED=$work common/mk/tests/bare.sh "${1:-bookworm}" 'sh /carried/run.sh'
