"""Worker processes of `multiprocessing` export what they count before they end."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from typing import Final

import pytest

from tests.collectors import collecting
from tests.installation.test_neighbours import count_failures

pytestmark = pytest.mark.programs

PROGRAM: Final = """
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import otel_errcompact

otel_errcompact.install()


def work(number):
    with otel_errcompact.run(agent="worker") as run:
        for step in range(2):
            run.fail(f"KeyError: [order {number} {step}]", tool="load")


if __name__ == "__main__":
    work(0)  # the parent has a connection by then
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(sys.argv[1])) as pool:
        list(pool.map(work, range(1, 4)))
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_export_what_they_count(tmp_path, method):
    """Eight failures of a parent and its workers arrive as spans, and are counted once each."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    with collecting() as collector:
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_METRIC_EXPORT_INTERVAL": "3600000",  # each process exports once, at its end
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, str(tmp_path / "program.py"), method]
        subprocess.run(command, env={**os.environ, **environ}, cwd=tmp_path, check=True, timeout=300)
        spans, metrics = collector.bodies("/v1/traces"), collector.bodies("/v1/metrics")

    sent = b"".join(spans)
    orders = [f"[order {number} {step}]" for number in range(4) for step in range(2)]
    assert [order for order in orders if order.encode() not in sent] == []
    assert sum(count_failures(body) for body in metrics) == 8
