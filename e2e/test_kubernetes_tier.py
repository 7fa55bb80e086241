"""The tier of kubernetes/base as processes: agent, balancer and gateways with the files and variables of their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from e2e.build import BuildError
from e2e.manifests import Workload, built
from e2e.sink import Sink, attributes, eventually
from e2e.test_collector import ERROR, OTELCOL, Collector, counter, exception, log, span, traces
from e2e.test_kubernetes import unavailable
from e2e.test_start import KNOWN, complaints

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.manifests import Manifests

NODE: Final = "node-1"
SECRET: Final = "sk-ant-api03-Zt8Qw2Lm5Xr9Kd4Vb7Np1Hs6Jf3Gy0Tc"
TRACES: Final = 20
ADDRESSES: Final = {"PROMETHEUS_URL", "TEMPO_URL", "LOKI_URL", "BALANCER_URL", "COLLECTORS", "QUEUE_DIRECTORY"}
"""Variables with other values here than in a cluster."""


class Tier:
    """
    The processes, and the back ends behind each.
    """

    def __init__(self, folder: Path, manifests: Manifests) -> None:
        self._folder = folder
        self._workloads = {workload.name: workload for workload in manifests.workloads()}
        replicas = manifests.named("StatefulSet", "errcompact-gateway")["spec"]["replicas"]
        self.gateways = [self._started("errcompact-gateway", number) for number in range(replicas)]
        behind = ", ".join(f"127.0.0.1:{gateway.grpc_port}" for gateway in self.gateways)
        self.balancer = self._started("errcompact-balancer", 0, COLLECTORS=f"[{behind}]")
        self.agent = self._started("errcompact-agent", 0, BALANCER_URL=f"http://127.0.0.1:{self.balancer.port}")

    def _started(self, name: str, number: int, **addresses: str) -> Collector:
        workload: Workload = self._workloads[name]
        folder = self._folder / f"{name}-{number}"
        folder.mkdir()
        file, content = workload.configuration()
        (folder / file).write_text(content, encoding="utf-8")
        shipped = workload.environ(metadata_name=folder.name, spec_nodeName=NODE)
        collector = Collector(
            folder=folder,
            sink=Sink(),
            environment={key: value for key, value in shipped.items() if key not in ADDRESSES} | addresses,
            configuration=str(folder / file),
        )
        collector.start()
        return collector

    def close(self) -> None:
        """Stop the senders before the receivers."""
        for collector in (self.agent, self.balancer, *self.gateways):
            collector.stop()
            collector.sink.close()


@pytest.fixture(scope="module")
def tier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tier]:
    """The tier that kubernetes/base describes."""
    if not OTELCOL:
        unavailable("no collector: `make e2e` builds it")
    try:
        running = Tier(tmp_path_factory.mktemp("tier"), built("kubernetes/base"))
    except BuildError as error:
        unavailable(f"{error}; `make e2e` builds first")
    yield running
    running.close()


def test_no_collector_complains_when_it_starts(tier: Tier) -> None:
    """Each with the configuration and the variables of its pod."""
    collectors = (*tier.gateways, tier.balancer, tier.agent)
    said = {each.folder.name: complaints((each.folder / "log").read_text(encoding="utf-8")) for each in collectors}
    assert {name: len(lines) for name, lines in said.items() if lines} == dict.fromkeys(
        (gateway.folder.name for gateway in tier.gateways), len(KNOWN["otelcol"])
    )


def test_a_failing_trace_passes_all_three(tier: Tier) -> None:
    """It arrives once, without its secret, with the name of its node; traces are shared out to all gateways."""
    failed = [
        span(status=ERROR, events=[exception(exception__type="E", exception__message=f"key {SECRET} was refused")])
        for _ in range(TRACES)
    ]
    assert tier.agent.send(traces(*failed)) == 200

    sinks = [gateway.sink for gateway in tier.gateways]
    assert eventually(lambda: sum(len(sink.spans()) for sink in sinks) == TRACES, 30)
    assert sorted(one.span_id for sink in sinks for one in sink.spans()) == sorted(one.span_id for one in failed)
    assert all(sink.spans() for sink in sinks)
    for sink in sinks:
        assert not sink.holds(SECRET)
        assert sink.holds("was refused")
        nodes = {
            attributes(resource.resource.attributes)["k8s.node.name"]
            for request in sink.requests("traces")
            for resource in request.resource_spans
        }
        assert nodes == {NODE}


def test_metrics_and_logs_pass_as_well(tier: Tier) -> None:
    """With their node too, which a program that knows its node may say itself."""
    assert tier.agent.send(counter(7)) == 200
    assert tier.agent.send(log("out of stock", name="stock")) == 200

    def points() -> list[tuple[int, str]]:
        found = [one for gateway in tier.gateways for one in gateway.sink.sums("shop.orders")]
        return [(point.as_int, labels["k8s.node.name"]) for labels, point in found]

    assert eventually(lambda: points() == [(7, NODE)], 30)
    assert eventually(lambda: sum(len(gateway.sink.logs()) for gateway in tier.gateways) == 1, 30)


def test_what_an_agent_holds_outlives_its_balancer(tier: Tier) -> None:
    """An agent keeps what it has taken until the balancer is back."""
    tier.balancer.stop()
    failed = span(status=ERROR, name="while it was away", events=[exception(exception__type="E")])
    assert tier.agent.send(traces(failed)) == 200
    tier.balancer.start(same_ports=True)
    assert eventually(
        lambda: any(one.span_id == failed.span_id for gateway in tier.gateways for one in gateway.sink.spans()), 60
    )
