"""What arrives of an alert: in words, apart from other environments, and with links that lead to this stack."""

from __future__ import annotations

import os
import re
from contextlib import closing
from datetime import UTC, datetime
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, Self

import httpx
import pytest
import yaml

from e2e.backends import Alertmanager, Prometheus, eventually
from e2e.build import go_is_missing
from e2e.build import program as built
from e2e.mailbox import Mailbox
from e2e.programs import Program, free_ports
from e2e.webhook import Receiver, Webhook
from tests.stack.compose import ROOT, compose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FOLDER: Final = ROOT / "collector-config"
CONFIGURATION: Final = (FOLDER / "alertmanager.yaml").read_text(encoding="utf-8")
SAMPLES: Final = yaml.safe_load(dedent(re.sub("(?m)^  #", "", re.findall(r"(?m)(?:^  #   .*\n)+", CONFIGURATION)[-1])))
"""The receivers that stand there as comments."""

ANNOTATIONS: Final = {
    "summary": "KeyError & <Timeout> happened 4 times in shop.",
    "description": "Error class c1: no row.",
    "dashboard_url": "http://localhost:3000/d/a?var-service=shop&var-class=c1",
    "silence_url": "http://localhost:9093/#/silences/new?filter=%7Ba%3D%22b%22%7D",
    "runbook_url": "https://example.com/RUNBOOK.md#agenterrorrecurring",
}
TEXT: Final = """\
KeyError & <Timeout> happened 4 times in shop.
Error class c1: no row.
Dashboard: http://localhost:3000/d/a?var-service=shop&var-class=c1
Silence: http://localhost:9093/#/silences/new?filter=%7Ba%3D%22b%22%7D
Runbook: https://example.com/RUNBOOK.md#agenterrorrecurring"""
SLACK: Final = """\
KeyError &amp; &lt;Timeout&gt; happened 4 times in shop.
Error class c1: no row.
<http://localhost:3000/d/a?var-service=shop&amp;var-class=c1|Dashboard>
<http://localhost:9093/#/silences/new?filter=%7Ba%3D%22b%22%7D|Silence>
<https://example.com/RUNBOOK.md#agenterrorrecurring|Runbook>"""
ENVIRONMENT: Final = "deployment_environment_name"
LABELS: Final = {"service_name": "shop", ENVIRONMENT: "prod", "severity": "critical"}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where programs keep what they keep; without Go there are none."""
    if reason := go_is_missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return tmp_path


class Told:
    """
    Every sample receiver at once, and what arrived at each.
    """

    def __init__(self, directory: Path) -> None:
        self.slack, self.pagerduty, self.mailbox = Receiver(), Receiver(), Mailbox()
        secret = directory / "secret"
        secret.write_text(self.slack.address, encoding="utf-8")
        (slack,), (pagerduty,), (email,) = (SAMPLES[f"{kind}_configs"] for kind in ("slack", "pagerduty", "email"))
        unsigned = {name: value for name, value in email.items() if not name.startswith("auth_")}
        self.receiver = {
            "slack_configs": [{**slack, "api_url_file": str(secret)}],
            "pagerduty_configs": [{**pagerduty, "routing_key_file": str(secret), "url": self.pagerduty.address}],
            "email_configs": [{**unsigned, "smarthost": self.mailbox.address, "require_tls": False}],
        }

    def wait(self) -> None:
        """Wait for a message at each."""
        kept = (self.slack.bodies, self.pagerduty.bodies, self.mailbox.messages)
        eventually(
            lambda: self.slack.bodies and self.pagerduty.bodies and self.mailbox.messages,
            seconds=20,
            what=f"a message at each of {kept}",
        )

    @property
    def in_slack(self) -> tuple[str, str]:
        """Title and text of the newest message."""
        (shown,) = self.slack.bodies[-1]["attachments"]
        return shown["title"], shown["text"]

    @property
    def on_the_pager(self) -> tuple[str, str, str]:
        """Line, severity and text."""
        shown = self.pagerduty.bodies[-1]["payload"]
        return shown["summary"], shown["severity"], shown["custom_details"]["alerts"]

    @property
    def in_the_mail(self) -> tuple[str, str]:
        """Subject and text."""
        mail = self.mailbox.messages[-1]
        (part,) = mail.iter_parts()
        return str(mail["Subject"]), str(part.get_content()).replace("\r\n", "\n")

    def close(self) -> None:
        """Stop listening."""
        for each in (self.slack, self.pagerduty, self.mailbox):
            each.close()


@pytest.fixture
def told(directory: Path) -> Iterator[Told]:
    """The receivers of the samples."""
    receivers = Told(directory)
    yield receivers
    receivers.close()


class Sender:
    """
    Alertmanager as it is shipped, with another receiver and less patience.
    """

    def __init__(self, directory: Path, receiver: Mapping[str, Any]) -> None:
        shipped = yaml.safe_load(CONFIGURATION)
        shipped["templates"] = [str(FOLDER / name) for name in shipped["templates"]]
        shipped["route"].update(group_wait="100ms", group_interval="1s")
        shipped["receivers"] = [{"name": "operators", **receiver}]
        file = directory / "alertmanager.yaml"
        file.write_text(yaml.safe_dump(shipped), encoding="utf-8")
        (port,) = free_ports(1)
        self.address = f"127.0.0.1:{port}"
        self._program = Program(
            name="alertmanager",
            command=[
                str(built("alertmanager")), f"--config.file={file}", f"--storage.path={directory}/kept",
                "--cluster.listen-address=", f"--web.listen-address={self.address}",
            ],
            ready=f"http://{self.address}/-/ready",
            directory=directory / "alertmanager",
            environ={},
        )  # fmt: skip
        self._program.restart()
        self.backend = Alertmanager(f"http://{self.address}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.backend.close()
        self._program.kill()

    def send(self, *alerts: Mapping[str, Any]) -> None:
        """Hand in alerts, as Prometheus does."""
        posted = httpx.post(f"http://{self.address}/api/v2/alerts", json=alerts, trust_env=False)
        assert posted.is_success, posted.text

    def states(self) -> dict[tuple[str, str], str]:
        """Return whether each alert is told or held back, by service and environment."""
        return {
            (labels["service_name"], labels.get("deployment_environment_name", "")): alert["status"]["state"]
            for alert in self.backend.alerts()
            for labels in [alert["labels"]]
        }


FULL: Final = {"labels": {"alertname": "AgentRunEscalated", **LABELS, "a": "1"}, "annotations": ANNOTATIONS}
BARE: Final = {"labels": {"alertname": "AgentRunEscalated"}}


def test_a_message_says_all_and_links_it(directory: Path, told: Told) -> None:
    """Each sample carries both texts, the page, the form that silences, and the runbook."""
    with Sender(directory, told.receiver) as sender:
        sender.send(FULL)
        told.wait()
    assert told.in_slack == ("AgentRunEscalated: shop (prod)", SLACK)
    assert told.on_the_pager == (ANNOTATIONS["summary"], "critical", TEXT)
    assert told.in_the_mail == ("AgentRunEscalated: shop (prod)", TEXT)


def test_a_message_of_several_alerts_holds_them_all(directory: Path, told: Told) -> None:
    """One after the other; the pager's line counts the rest."""
    with Sender(directory, told.receiver) as sender:
        sender.send(*({**FULL, "labels": {**FULL["labels"], "a": which}} for which in "123"))
        told.wait()
    assert told.in_slack == ("AgentRunEscalated: shop (prod)", "\n\n".join([SLACK] * 3))
    assert told.on_the_pager == (f"{ANNOTATIONS['summary']} And 2 more.", "critical", "\n\n".join([TEXT] * 3))
    assert told.in_the_mail == ("AgentRunEscalated: shop (prod)", "\n\n".join([TEXT] * 3))


def test_what_is_absent_leaves_no_gap(directory: Path, told: Told) -> None:
    """An alert of the operator's own may have a name and nothing else."""
    with Sender(directory, told.receiver) as sender:
        sender.send(BARE)
        told.wait()
    assert told.in_slack == ("AgentRunEscalated", "AgentRunEscalated")
    assert told.on_the_pager == ("AgentRunEscalated", "error", "AgentRunEscalated")
    assert told.in_the_mail == ("AgentRunEscalated", "AgentRunEscalated")


@pytest.mark.parametrize("absent", ANNOTATIONS)
def test_one_annotation_less_is_one_line_less(directory: Path, told: Told, absent: str) -> None:
    """Of several alerts too; the name takes the place of the summary."""
    annotations = {name: text for name, text in ANNOTATIONS.items() if name != absent}
    with Sender(directory, told.receiver) as sender:
        sender.send(*({"labels": {**BARE["labels"], "a": which}, "annotations": annotations} for which in "12"))
        told.wait()
    place = list(ANNOTATIONS).index(absent)
    for told_of, whole in ((told.in_slack[-1], SLACK), (told.on_the_pager[-1], TEXT), (told.in_the_mail[-1], TEXT)):
        lines = whole.split("\n")
        lines[place : place + 1] = ["AgentRunEscalated"] if absent == "summary" else []
        assert told_of == "\n\n".join(["\n".join(lines)] * 2)


def test_what_is_over_says_so(directory: Path, told: Told) -> None:
    """Among alerts that still fire."""
    over = {**FULL, "labels": {**FULL["labels"], "a": "2"}}
    with Sender(directory, told.receiver) as sender:
        sender.send(FULL, over)
        told.wait()
        sender.send({**over, "endsAt": datetime.now(UTC).isoformat()})
        eventually(lambda: "Over: " in told.in_slack[-1], seconds=20, what="the end of an alert")
    assert told.in_slack[-1] == f"{SLACK}\n\nOver: {SLACK}"


def test_environments_and_owners_are_told_apart(directory: Path) -> None:
    """The same alert of the same service is one message in each environment."""
    webhook = Webhook()
    environments = ("prod", "staging")
    with Sender(directory, {"webhook_configs": [{"url": webhook.address}]}) as sender:
        sender.send(*({"labels": {**FULL["labels"], ENVIRONMENT: each}} for each in environments))
        eventually(lambda: len(webhook.bodies) == len(environments), seconds=20, what="two messages")
    webhook.close()
    assert sorted(told["groupLabels"][ENVIRONMENT] for told in webhook.bodies) == sorted(environments)
    assert [len(told["alerts"]) for told in webhook.bodies] == [1, 1]


@pytest.mark.parametrize(
    ("collector", "held"),
    [("staging", {"staging"}), ("prod", {"prod"}), ("dev", set()), ("", {"", "prod", "staging"})],
)
def test_a_silent_collector_explains_the_silence_of_its_environment(
    directory: Path, collector: str, held: set[str]
) -> None:
    """One that names none takes what all of them send."""

    def silent(service: str, component: str, environment: str) -> Mapping[str, Any]:
        named = {"service_name": service, "component": component, ENVIRONMENT: environment}
        return {"labels": {"alertname": "AgentTelemetrySilent", **{key: text for key, text in named.items() if text}}}

    with Sender(directory, {}) as sender:
        sender.send(
            silent("otelcol", "collector", collector), *(silent("shop", "agent", at) for at in ("", "prod", "staging"))
        )
        eventually(lambda: "unprocessed" not in sender.states().values(), seconds=20, what="states")
        states = sender.states()
    assert states.pop(("otelcol", collector)) == "active"
    assert {at for (_, at), state in states.items() if state == "suppressed"} == held


@pytest.mark.parametrize(("port", "address"), [("3333", "http://localhost:3333"), (None, "http://localhost:3000")])
def test_links_follow_the_ports_and_identities_do_not(directory: Path, port: str | None, address: str) -> None:
    """The rules read where people find Grafana; neither the alert nor any series has such a label."""
    given = compose(GRAFANA_PORT=port)["services"]["prometheus"]["environment"] if port else {}
    (free,) = free_ports(1)
    at = f"127.0.0.1:{free}"
    with Sender(directory, {}) as sender:
        shipped = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))
        shipped["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [sender.address]}]}]
        shipped["scrape_configs"][0].update(scrape_interval="1s", static_configs=[{"targets": [at]}])
        shipped["rule_files"] = [str(_rule(directory))]
        file = directory / "prometheus.yaml"
        file.write_text(yaml.safe_dump(shipped), encoding="utf-8")
        prometheus = Program(
            name="prometheus",
            command=[
                str(built("prometheus")), f"--config.file={file}", f"--storage.tsdb.path={directory}/tsdb",
                f"--web.listen-address={at}",
            ],
            ready=f"http://{at}/-/ready",
            directory=directory / "prometheus",
            environ=given,
        )  # fmt: skip
        try:
            prometheus.restart()
            eventually(sender.backend.alerts, seconds=30, what="an alert")
            (alert,) = sender.backend.alerts()
            with closing(Prometheus(f"http://{at}")) as backend:
                kept = backend.get("/api/v1/labels")["data"]
        finally:
            prometheus.kill()
    assert alert["annotations"] == {"dashboard_url": f"{address}/d/errcompact-recurrence"}
    assert alert["labels"] == {"alertname": "Linked", "instance": at, "job": "prometheus"}
    assert [name for name in kept if name.endswith("_url")] == []


def _rule(directory: Path) -> Path:
    address = "{{ with $externalLabels.grafana_url }}{{ . }}{{ else }}http://localhost:3000{{ end }}"
    rule = {
        "alert": "Linked",
        "expr": "up == 1",
        "annotations": {"dashboard_url": f"{address}/d/errcompact-recurrence"},
    }
    file = directory / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "linked", "interval": "1s", "rules": [rule]}]}))
    return file
