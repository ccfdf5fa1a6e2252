"""What is run on a GPU is rehearsed on a CPU: each phase ends well, and no step fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import OFFLINE, ROOT


@pytest.mark.slow
def test_the_run_on_a_gpu_is_rehearsed(tmp_path: Path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    surroundings = {**os.environ, **OFFLINE, "PATH": path, "DEVICE": "cpu", "OUT": str(tmp_path), "WORKERS": "0"}
    command = ["bash", str(ROOT / "tests/devices/gpu_run.sh")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=surroundings)
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    failed = [line for line in lines if line.get("ok") is False]
    assert not failed, f"{failed}\n{done.stderr}"
    phases = {line["phase"]: line["rc"] for line in lines if "rc" in line}
    assert phases == dict.fromkeys(("tests", "correct", "kernels", "graphs", "speed", "loops"), 0), done.stdout
