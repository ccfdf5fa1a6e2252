#!/usr/bin/env bash
# What is tested and measured in the first minutes on a GPU: `OUT=FOLDER bash tests/devices/gpu_run.sh [PHASE ...]`.
#
# DEVICE=cpu rehearses it in small. OUT gets results.jsonl, a line for each result and each failure, and tests.xml.
# Wheels in wheels/ are put on the path: such a machine may have no package index, and lack rapidfuzz. `speed` times
# TensorBLEU as well if rxlm is there. Each phase has a limit, and all end in 8 minutes.
set -u
cd "$(dirname "$0")/../.."
export OUT="${OUT:?a folder for the results}" DEVICE="${DEVICE:-cuda}" PYTHONUNBUFFERED=1
export CUBLAS_WORKSPACE_CONFIG=:4096:8 # deterministic products of matrices
mkdir -p "$OUT"
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
if compgen -G "wheels/*.whl" > /dev/null; then
    python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target "$site" wheels/*.whl
fi
export PYTHONPATH="$site:$PWD:$PWD/tests/support:$PWD/tests/benchmarks"
if command -v nvidia-smi > /dev/null; then
    nvidia-smi --query-gpu=name,memory.total,memory.used,driver_version,clocks.sm,clocks.mem --format=csv
fi
uname -rv
python3 -m pip list 2> /dev/null | grep -iE "^(torch|triton|numpy|pytest|hypothesis|rapidfuzz|torchmetrics) "

phase() { # NAME SECONDS COMMAND: a line says how it ended
    local begin=$SECONDS
    LIMIT=$2 timeout -k 5 "$2" "${@:3}"
    echo "{\"phase\": \"$1\", \"rc\": $?, \"s\": $((SECONDS - begin))}" | tee -a "$OUT/results.jsonl"
}
tests() { phase tests 120 python3 -m pytest -m cuda -n "${WORKERS:-6}" -q -rfE --tb=short --junitxml="$OUT/tests.xml"; }
measure() { phase "$1" "$2" python3 tests/devices/gpu_run.py "$1"; }

for name in "${@:-all}"; do
    case $name in
        all) tests & measure correct 150; wait $!; measure kernels 45; measure graphs 110; measure speed 90; measure loops 60 ;;
        tests) tests ;;
        *) measure "$name" 150 ;;
    esac
done
grep -h '"ok": false\|"rc"' "$OUT/results.jsonl" | cut -c1-400 | tail -40
