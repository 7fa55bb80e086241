"""
docker-compose.yml, and what is laid over it, checked against themselves and the files they mount.

Docker is asked too where it is there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from posixpath import normpath
from urllib.parse import urlsplit

import pytest
import yaml

from e2e.recipes import ALERTMANAGER, COLLECTOR, JAEGER, PROMETHEUS, VICTORIALOGS
from otel_errcompact.otel.semconv import GEN_AI_OPERATION_NAME, MCP_METHOD_NAME, MCP_TOOL_CALL, SPAN_TOOL
from otel_errcompact.otel.spans.conventions import CONVENTIONS
from otel_errcompact_hosts.telemetry.messages import MAX_FIELDS
from otel_errcompact_hosts.telemetry.serving import HTTP_PORT
from tests.stack.compose import (
    FILE,
    RECEIVER,
    ROOT,
    compose,
    configuration,
    mounts,
    on_host,
    services,
    settings_read,
    variables,
)
from tests.stack.compose import JAEGER as OVERLAY
from tests.stack.metrics import OF_RESOURCE

SERVICES = sorted(services())
EVERY_SERVICE = [
    *(pytest.param(name, (), id=name) for name in SERVICES),
    *(pytest.param(name, (OVERLAY,), id=f"{name}, overlay") for name in sorted(services(OVERLAY))),
    pytest.param("receiver", (RECEIVER,), id="receiver"),
]
CONFIGURED = [
    *((name, (), (name,)) for name in ("otelcol", "prometheus", "alertmanager", "tempo", "loki")),
    ("otelcol", (OVERLAY,), ("otelcol", "otelcol-jaeger")),
    ("jaeger", (OVERLAY,), ("jaeger",)),
    ("otelcol", (RECEIVER,), ("otelcol", "otelcol-receiver")),
]
every_configuration = pytest.mark.parametrize(("name", "overlays", "files"), CONFIGURED)
MIB = {"m": 1, "g": 1024}


def mebibytes(size: str) -> int:
    """600m, 1g, or 480MiB."""
    number, unit = re.fullmatch(r"(\d+)(m|g|MiB)", size).groups()
    return int(number) * MIB.get(unit, 1)


IMAGE = re.compile(r"(?P<tagged>[a-z0-9./-]+:[A-Za-z0-9_.-]+)@sha256:(?P<digest>[0-9a-f]{64})")


def test_the_images_are_pinned() -> None:
    """To the versions that everything here was written and tested for, and to their bytes."""
    found = {name: IMAGE.fullmatch(service["image"]) for name, service in services().items()}
    assert {name: image and image["tagged"] for name, image in found.items()} == {
        "alertmanager": "prom/alertmanager:v0.34.0",
        "demo": "python:3.12-slim",
        "grafana": "grafana/grafana:13.2.0",
        "loki": "grafana/loki:3.7.6",
        "otelcol": "otel/opentelemetry-collector-contrib:0.159.0",
        "prometheus": "prom/prometheus:v3.14.0",
        "tempo": "grafana/tempo:3.0.3",
        "queue-owner": "busybox:1.37.0",
    }
    assert len({image["digest"] for image in found.values()}) == len(found)


@pytest.mark.parametrize(
    "image",
    [
        "grafana/tempo:3.0.3",
        "grafana/tempo@sha256:" + "0" * 64,
        "grafana/tempo:3.0.3@sha256:" + "0" * 63,
        "grafana/tempo:3.0.3@sha256:<digest>",
    ],
)
def test_an_image_without_tag_or_whole_digest_is_refused(image: str) -> None:
    """The tag says the version, the digest the bytes."""
    assert not IMAGE.fullmatch(image)


def test_the_overlay_s_images_have_their_versions() -> None:
    """By tag alone: no digest of theirs was found in public, and .env says so."""
    added = {name: services(OVERLAY)[name]["image"] for name in services(OVERLAY).keys() - services().keys()}
    assert added == {
        "jaeger": "jaegertracing/jaeger:2.13.0",
        "victoria-logs": "victoriametrics/victoria-logs:v1.52.1",
    }
    # One commit, two tags: the older half of Jaeger counted on.
    assert JAEGER.module.version == "v1.76.0"
    assert added["victoria-logs"].rpartition(":")[2] == VICTORIALOGS.module.version


def test_the_versions_are_those_that_are_built_for_tests() -> None:
    """What the chain proves is proved of these images."""
    versions = {
        "otelcol": COLLECTOR.builder.version,
        # To Go, 3.14.0 is v0.314.0.
        "prometheus": re.sub(r"v0\.3(\d+)", r"3.\1", PROMETHEUS.module.version),
        "alertmanager": ALERTMANAGER.module.version,
    }
    for name, version in versions.items():
        tag = IMAGE.fullmatch(services()[name]["image"])["tagged"].rpartition(":")[2]
        assert tag.removeprefix("v") == version.removeprefix("v"), name


def test_nothing_asks_the_outside() -> None:
    """No statistics, updates, keys, news or pictures are fetched, and nothing is published."""
    grafana = services()["grafana"]["environment"]
    assert {setting: grafana.get(setting) for setting in OUTSIDE} == OUTSIDE
    assert configuration("tempo.yaml")["usage_report"] == {"reporting_enabled": False}
    assert configuration("loki.yaml")["analytics"] == {"reporting_enabled": False}
    # It looks for other Alertmanagers in no network; Prometheus and the collector know no reports.
    assert "--cluster.listen-address=" in services()["alertmanager"]["command"]


OUTSIDE = {
    "GF_ANALYTICS_REPORTING_ENABLED": "false",
    "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
    "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
    "GF_NEWS_NEWS_FEED_ENABLED": "false",
    "GF_PLUGINS_PLUGIN_ADMIN_ENABLED": "false",
    "GF_PLUGINS_PREINSTALL_AUTO_UPDATE": "false",
    "GF_PLUGINS_PREINSTALL_DISABLED": "true",
    "GF_PLUGINS_PUBLIC_KEY_RETRIEVAL_DISABLED": "true",
    "GF_SECURITY_DISABLE_GRAVATAR": "true",
    "GF_SNAPSHOTS_EXTERNAL_ENABLED": "false",
}
"""What Grafana asks grafana.com, gravatar.com and raintank.io for unless it is set otherwise."""


def test_each_variable_is_set_and_used() -> None:
    """A variable that is not in .env would be empty; a line of .env that nothing reads would be a lie."""
    files = (ROOT / name for name in (FILE, OVERLAY, RECEIVER))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", "\n".join(line for line in lines if not line.lstrip().startswith("#"))))
    used |= {secret["environment"] for secret in compose()["secrets"].values()}
    assert used == set(variables())


def test_every_port_is_on_the_loopback_address() -> None:
    """Nothing here asks for a password."""
    published = {name: service["ports"] for name, service in services(OVERLAY).items() if "ports" in service}
    assert published == {
        "alertmanager": ["127.0.0.1:9093:9093"],
        "grafana": ["127.0.0.1:3000:3000"],
        "jaeger": ["127.0.0.1:16686:16686"],
        "loki": ["127.0.0.1:3100:3100"],
        "otelcol": [
            "127.0.0.1:4317:4317",
            "127.0.0.1:4318:4318",
            "127.0.0.1:13133:13133",
            "127.0.0.1:55679:55679",
        ],
        "prometheus": ["127.0.0.1:9090:9090"],
        "tempo": ["127.0.0.1:3200:3200"],
        "victoria-logs": ["127.0.0.1:9428:9428"],
    }


@pytest.mark.parametrize(("name", "overlays"), EVERY_SERVICE)
def test_a_service_is_bounded(name: str, overlays: tuple[str, ...]) -> None:
    """In memory, threads and logs; it gets time to stop, and what happens when it ends is said."""
    service = services(*overlays)[name]
    assert mebibytes(service["mem_limit"]) <= 1024
    assert 0 < service["pids_limit"] <= 512
    assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "3"}}
    assert service["restart"] == ("no" if name == "queue-owner" else "unless-stopped")
    assert re.fullmatch(r"\d+[sm]", service["stop_grace_period"])


@pytest.mark.parametrize(("name", "overlays"), EVERY_SERVICE)
def test_a_service_has_no_rights_to_lose(name: str, overlays: tuple[str, ...]) -> None:
    """No root but where it is said why, no capabilities, none to gain."""
    service = services(*overlays)[name]
    user, _, _ = service["user"].partition(":")
    assert int(user) > 0 or service["x-root"]
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["CHOWN"] if name == "queue-owner" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged", False)


@pytest.mark.parametrize(("name", "overlays"), EVERY_SERVICE)
def test_a_service_is_asked_how_it_is_or_the_reason_is_said(name: str, overlays: tuple[str, ...]) -> None:
    """By a program that its image has, without a shell."""
    service = services(*overlays)[name]
    if reason := service.get("x-no-healthcheck"):
        assert "healthcheck" not in service
        assert len(reason) > 10
        return
    check = service["healthcheck"]
    assert check["test"][0] == "CMD"
    assert set(check) == {"test", "interval", "timeout", "retries", "start_period"}


def test_the_health_checks_are_these() -> None:
    """Tempo's and Loki's images have no shell, Jaeger's is Alpine; promtool and amtool were run as written."""
    checks = {
        name: service["healthcheck"]["test"][1:]
        for name, service in services(OVERLAY).items()
        if "healthcheck" in service
    }
    assert checks == {
        "alertmanager": ["amtool", "cluster", "show", "--alertmanager.url=http://localhost:9093"],
        "grafana": ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:3000/api/health"],
        "jaeger": ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:13133/status"],
        "loki": ["/usr/bin/loki", "-health"],
        "prometheus": ["promtool", "check", "ready", "--url=http://localhost:9090"],
        "tempo": ["/tempo", "-health"],
    }


@pytest.mark.parametrize(("name", "overlays"), EVERY_SERVICE)
def test_what_is_mounted_exists_and_is_not_written(name: str, overlays: tuple[str, ...]) -> None:
    """Docker makes an empty folder of a path that does not exist."""
    declared = compose(*overlays)["volumes"]
    for source, writable in mounts(name, *overlays).values():
        if source.startswith("."):
            assert (ROOT / source).exists(), source
            assert not writable, source
        else:
            assert source in declared


def test_each_volume_is_used() -> None:
    """A volume per program that keeps something."""
    kept = {source for name in SERVICES for source, writable in mounts(name).values() if writable}
    assert kept == set(compose()["volumes"])
    assert kept == {"otelcol-queue", "prometheus", "alertmanager", "tempo", "loki", "grafana"}


@every_configuration
def test_a_program_is_started_with_our_configuration(
    name: str, overlays: tuple[str, ...], files: tuple[str, ...]
) -> None:
    """The paths in its command are the files that are mounted; the collector merges the second over the first."""
    words = services(*overlays)[name]["command"]
    paths = [word.partition("=")[2] for word in words if re.match(r"--?config(\.file)?=", word)]
    found = [on_host(name, path, *overlays) for path in paths]
    assert found == [ROOT / "collector-config" / f"{file}.yaml" for file in files]


@pytest.mark.parametrize("name", ["tempo", "loki"])
def test_variables_are_expanded_where_that_must_be_asked_for(name: str) -> None:
    """The collector and Grafana do it unasked."""
    assert "-config.expand-env=true" in services()[name]["command"]


@every_configuration
def test_what_a_configuration_reads_of_the_environment_is_there(
    name: str, overlays: tuple[str, ...], files: tuple[str, ...]
) -> None:
    """A variable without a default is set, and none is set that nothing reads."""
    read = {setting: default for file in files for setting, default in settings_read(f"{file}.yaml").items()}
    given = services(*overlays)[name]["environment"]
    assert {setting for setting, default in read.items() if default is None} <= set(given)
    assert set(given) - {"GOMEMLIMIT"} <= set(read)


@pytest.mark.parametrize(
    ("name", "setting", "volume"),
    [
        ("otelcol", "QUEUE_DIRECTORY", "otelcol-queue"),
        ("tempo", "TEMPO_DIRECTORY", "tempo"),
        ("loki", "LOKI_DIRECTORY", "loki"),
    ],
)
def test_what_a_program_keeps_is_in_its_volume(name: str, setting: str, volume: str) -> None:
    """The folder that its configuration names is where the volume is mounted."""
    folder = services()[name]["environment"].get(setting) or settings_read(f"{name}.yaml")[setting]
    assert mounts(name)[folder] == (volume, True)


def test_each_volume_belongs_to_the_program_that_writes_it() -> None:
    """A volume takes its owner from the folder in the image; where there is none, it is changed before the start."""
    # Read in the images' own Dockerfiles.
    in_images = {
        "prometheus": ("/prometheus", "65534"),
        "alertmanager": ("/alertmanager", "65534"),
        "tempo": ("/var/tempo", "10001"),
        "loki": ("/loki", "10001"),
        "grafana": ("/var/lib/grafana", "472"),
    }
    for name, (folder, owner) in in_images.items():
        assert mounts(name)[folder] == (name, True)
        assert services()[name]["user"].partition(":")[0] == owner
    assert services()["queue-owner"]["command"] == ["chown", services()["otelcol"]["user"], "/queue"]
    assert mounts("queue-owner") == {"/queue": ("otelcol-queue", True)}
    assert services()["otelcol"]["depends_on"] == {"queue-owner": {"condition": "service_completed_successfully"}}


def test_only_the_demo_waits_for_another_service() -> None:
    """A backend that is down holds nothing up."""
    waiting = {name: list(service["depends_on"]) for name, service in services().items() if "depends_on" in service}
    assert waiting == {"otelcol": ["queue-owner"], "demo": ["otelcol"]}


@pytest.mark.parametrize("name", ["otelcol", "tempo", "loki", "alertmanager", "grafana", "jaeger"])
def test_the_garbage_collector_knows_of_the_limit(name: str) -> None:
    """Else Go takes what it finds and is killed; Prometheus and VictoriaLogs read the limit themselves."""
    service = services(OVERLAY)[name]
    share = mebibytes(service["environment"]["GOMEMLIMIT"]) / mebibytes(service["mem_limit"])
    assert 0.75 <= share <= 0.85


def test_the_collector_refuses_before_it_is_killed() -> None:
    """Its own limit is the lowest of the three."""
    given = services()["otelcol"]["environment"]
    assert int(given["MEMORY_LIMIT_MIB"]) < mebibytes(given["GOMEMLIMIT"])


def test_addresses_name_services_and_their_ports() -> None:
    """Where the collector and Grafana go; none of it leaves the network of the stack."""
    addresses = {
        (name, setting): urlsplit(value).netloc
        for name in ("otelcol", "grafana", "demo")
        for setting, value in services()[name]["environment"].items()
        if setting.endswith(("_URL", "_ENDPOINT")) and not setting.startswith("GF_")
    }
    assert addresses == {
        ("otelcol", "PROMETHEUS_URL"): "prometheus:9090",
        ("otelcol", "TEMPO_URL"): "tempo:4318",
        ("otelcol", "LOKI_URL"): "loki:3100",
        ("grafana", "PROMETHEUS_URL"): "prometheus:9090",
        ("grafana", "ALERTMANAGER_URL"): "alertmanager:9093",
        ("grafana", "TEMPO_URL"): "tempo:3200",
        ("grafana", "LOKI_URL"): "loki:3100",
        ("demo", "OTEL_EXPORTER_OTLP_ENDPOINT"): "otelcol:4317",
    }
    assert {address.partition(":")[0] for address in addresses.values()} <= set(services())


def test_what_is_published_listens_beyond_its_own_loopback() -> None:
    """Docker cannot reach a program that listens on the loopback address of its container."""
    given = services()["otelcol"]["environment"]
    listening = {value for setting, value in given.items() if setting.endswith("_ADDRESS")}
    assert listening == {f"0.0.0.0:{port.rpartition(':')[2]}" for port in services()["otelcol"]["ports"]}


def test_prometheus_has_the_flags_that_its_configuration_asks_for() -> None:
    """Some settings exist as flags only."""
    text = (ROOT / "collector-config" / "prometheus.yaml").read_text(encoding="utf-8")
    wanted = re.search(r"^# flags: (.*)$", text, re.MULTILINE)[1].split()
    assert wanted
    assert set(wanted) <= set(services()["prometheus"]["command"])


def test_prometheus_finds_the_rules_and_alertmanager() -> None:
    """Paths are relative to the configuration file, in the container as in the checkout."""
    prometheus = configuration("prometheus.yaml")
    (rules,) = prometheus["rule_files"]
    assert on_host("prometheus", normpath(f"/etc/errcompact/collector-config/{rules}")) == (
        ROOT / "dashboards" / "generated" / "rules.yaml"
    )
    assert (ROOT / "dashboards" / "generated" / "rules.yaml").is_file()
    ((target,),) = [
        static["targets"] for known in prometheus["alerting"]["alertmanagers"] for static in known["static_configs"]
    ]
    assert target == "alertmanager:9093"
    promoted = {name.replace(".", "_") for name in prometheus["otlp"]["promote_resource_attributes"]}
    assert promoted == OF_RESOURCE - {"job", "instance"}


def test_links_in_alerts_follow_the_ports() -> None:
    """Those of .env."""
    chosen = compose(GRAFANA_PORT="3333", ALERTMANAGER_PORT="9999")["services"]["prometheus"]["environment"]
    assert chosen == {"GRAFANA_URL": "http://localhost:3333", "ALERTMANAGER_URL": "http://localhost:9999"}
    labels = configuration("prometheus.yaml")["global"]["external_labels"]
    assert labels == {name.lower(): f"${{{name}}}" for name in chosen}


def test_the_webhook_s_address_is_where_alertmanager_reads_it() -> None:
    """In the file that Compose makes of the variable; it is no argument of a process."""
    webhooks = [
        webhook["url_file"]
        for receiver in configuration("alertmanager.yaml")["receivers"]
        for webhook in receiver.get("webhook_configs", [])
    ]
    assert webhooks == ["/run/secrets/alert-webhook-url"]
    # Root owns the file whoever the program runs as, and in some releases of Compose nobody else may read it.
    assert services()["alertmanager"]["secrets"] == [{"source": "alert-webhook-url", "mode": "0444"}]
    assert compose()["secrets"] == {"alert-webhook-url": {"environment": "ALERT_WEBHOOK_URL"}}


def test_what_gets_a_secret_of_a_variable_can_be_written() -> None:
    """Compose copies such a secret into the container's own file system."""
    assert [name for name, service in services().items() if "secrets" in service and service.get("read_only")] == []


def test_nobody_can_sign_in_until_a_password_is_chosen() -> None:
    """There is no account with a known password, and what everyone may do is look."""
    grafana = services()["grafana"]["environment"]
    assert grafana["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert grafana["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    chosen = compose(GRAFANA_ADMIN_PASSWORD="geheim")["services"]["grafana"]["environment"]
    assert chosen["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "false"
    assert chosen["GF_SECURITY_ADMIN_PASSWORD"] == "geheim"


def test_grafana_opens_with_recurrence() -> None:
    """The page that answers which failures come back."""
    home = services()["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert on_host("grafana", home) == ROOT / "dashboards" / "generated" / "errcompact-inbox.json"
    assert on_host("grafana", home).is_file()


def test_the_demo_agent_s_options_exist(errcompact_help: str) -> None:
    """They are those of the command line."""
    *_, script = services()["demo"]["command"]
    options = re.findall(r"(--[a-z]+)", script.split("errcompact demo", 1)[1])
    assert options == ["--plain", "--repeat", "--pause"]
    assert [option for option in options if option not in errcompact_help] == []


@pytest.fixture
def errcompact_help() -> str:
    from typer.testing import CliRunner

    from otel_errcompact_lab.cli.app import app

    return CliRunner().invoke(app, ["demo", "--help"]).stdout


class TestTheReceiver:
    """What docker-compose.receiver.yml changes."""

    def test_it_adds_one_service_and_tells_the_collector(self) -> None:
        """All else stays, so that nothing changes for who does not ask for it."""
        changed = {
            (name, key)
            for name, service in services().items()
            for key, value in services(RECEIVER)[name].items()
            if service.get(key) != value
        }
        assert services(RECEIVER).keys() - services().keys() == {"receiver"}
        assert changed == {("otelcol", "command"), ("otelcol", "environment")}
        assert services(RECEIVER)["otelcol"]["environment"]["RECEIVER_URL"] == f"http://receiver:{HTTP_PORT}"
        assert services(RECEIVER)["receiver"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://otelcol:4317"

    def test_the_collector_reads_it_over_the_first_file(self) -> None:
        """One processor and one exporter more in two pipelines: a list is replaced as a whole."""
        over, first = configuration("otelcol-receiver.yaml"), configuration("otelcol.yaml")
        (added,), (exporter,) = over["processors"], over["exporters"]
        assert set(over["service"]) == {"pipelines"}
        assert over["service"]["pipelines"] == {
            name: {
                "processors": [*first["service"]["pipelines"][name]["processors"], added],
                "exporters": [*first["service"]["pipelines"][name]["exporters"], exporter],
            }
            for name in ("traces", "logs")
        }
        assert settings_read("otelcol-receiver.yaml").keys() - settings_read("otelcol.yaml").keys() == {
            "RECEIVER_URL",
            "RECEIVER_AUTHORIZATION",
        }
        assert over["exporters"][exporter]["sending_queue"]["batch"]["max_size"] * 4 * 195 <= MAX_FIELDS

    def test_the_kinds_of_spans_are_those_of_the_conventions(self) -> None:
        """What the receiver counts by an attribute of its own loses the coarse class."""
        (statements,) = configuration("otelcol-receiver.yaml")["processors"].values()
        (condition,) = statements["trace_statements"][0]["conditions"]
        kinds = {(row.kind, kind) for row in CONVENTIONS for kind, what in row.kinds.items() if what == SPAN_TOOL}
        assert kinds
        for attribute, kind in (*kinds, (GEN_AI_OPERATION_NAME, SPAN_TOOL), (MCP_METHOD_NAME, MCP_TOOL_CALL)):
            assert f'span.attributes["{attribute}"] == "{kind}"' in condition

    def test_nothing_of_it_is_reached_from_outside(self) -> None:
        """It asks for no token, since the collector alone can send to it."""
        receiver = services(RECEIVER)["receiver"]
        assert "ports" not in receiver
        assert "--host 0.0.0.0 --grpc-port 0 --without-token" in receiver["command"][-1]


class TestTheOverlay:
    """What docker-compose.jaeger.yml changes."""

    def test_it_stops_tempo_and_loki_and_adds_two(self) -> None:
        """Both wait for a profile that is not asked for, as the demo does; all else starts."""
        assert services(OVERLAY).keys() - services().keys() == {"jaeger", "victoria-logs"}
        profiles = {name: each["profiles"] for name, each in services(OVERLAY).items() if "profiles" in each}
        assert profiles == {"demo": ["demo"], "tempo": ["tempo-and-loki"], "loki": ["tempo-and-loki"]}

    def test_it_changes_nothing_else(self) -> None:
        """Where data goes, who owns the volumes, and which data sources Grafana reads."""
        changed = {
            (name, key)
            for name, service in services().items()
            for key, value in services(OVERLAY)[name].items()
            if service.get(key) != value
        }
        assert changed == {
            ("tempo", "profiles"),
            ("loki", "profiles"),
            ("otelcol", "command"),
            ("otelcol", "environment"),
            ("queue-owner", "command"),
            ("queue-owner", "volumes"),
            ("grafana", "environment"),
            ("grafana", "volumes"),
        }

    def test_the_collector_cuts_and_leaves_all_else_as_it_is(self) -> None:
        """One processor more in one pipeline: a list is replaced as a whole."""
        over = configuration("otelcol-jaeger.yaml")
        (cut,) = over["processors"]
        processors = over["service"]["pipelines"]["traces/sample"].pop("processors")
        assert over["service"] == {"pipelines": {"traces/sample": {}}}
        processors.remove(cut)
        assert processors == configuration("otelcol.yaml")["service"]["pipelines"]["traces/sample"]["processors"]
        assert set(over["exporters"]) <= set(configuration("otelcol.yaml")["exporters"])

    def test_the_new_programs_get_what_is_shipped(self) -> None:
        """VictoriaLogs its folder and for how long."""
        assert services(OVERLAY)["victoria-logs"]["command"] == [
            "-storageDataPath=/victoria-logs",
            "-retentionPeriod=336h",
            "-loggerLevel=WARN",
        ]

    def test_addresses_name_services_and_their_ports(self) -> None:
        """What was Tempo's is Jaeger's."""
        assert services(OVERLAY)["otelcol"]["environment"]["TEMPO_URL"] == "http://jaeger:4318"
        assert services(OVERLAY)["otelcol"]["environment"]["VICTORIALOGS_URL"] == "http://victoria-logs:9428"
        assert services(OVERLAY)["grafana"]["environment"]["JAEGER_URL"] == "http://jaeger:16686"
        read = settings_read("jaeger.yaml")
        assert (read["JAEGER_OTLP_ADDRESS"], read["JAEGER_HTTP_ADDRESS"]) == ("0.0.0.0:4318", "0.0.0.0:16686")

    def test_what_a_program_keeps_is_in_a_volume_that_is_its_own(self) -> None:
        """Neither image has the folder, so both owners are changed before the start."""
        assert settings_read("jaeger.yaml")["JAEGER_DIRECTORY"] == "/jaeger"
        for name in ("jaeger", "victoria-logs"):
            service = services(OVERLAY)[name]
            assert mounts(name, OVERLAY)[f"/{name}"] == (name, True)
            assert mounts("queue-owner", OVERLAY)[f"/{name}"] == (name, True)
            assert service["user"] == services(OVERLAY)["queue-owner"]["command"][1]
            assert f"/{name}" in services(OVERLAY)["queue-owner"]["command"][2:]
            assert service["depends_on"] == {"queue-owner": {"condition": "service_completed_successfully"}}
        assert set(compose(OVERLAY)["volumes"]) - set(compose()["volumes"]) == {"jaeger", "victoria-logs"}

    def test_grafana_reads_jaeger_in_the_place_of_tempo_and_loki(self) -> None:
        """Mounted over the file that names them."""
        place = "/etc/grafana/provisioning/datasources/errcompact.yaml"
        assert on_host("grafana", place) == ROOT / "collector-config/grafana/provisioning/datasources/errcompact.yaml"
        assert on_host("grafana", place, OVERLAY) == ROOT / "collector-config/grafana/jaeger.yaml"


@pytest.mark.programs
@pytest.mark.parametrize("overlays", [(), (OVERLAY,), (RECEIVER,)], ids=["alone", "with the overlay", "receiver"])
def test_docker_accepts_the_files(overlays: tuple[str, ...]) -> None:
    """Compose itself, with all profiles; it fills in the same images."""
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("Docker Compose is not installed")
    done = subprocess.run(
        [
            docker, "compose", *(f"--file={file}" for file in (FILE, *overlays)), "--profile=*", "config",
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    images = {name: service["image"] for name, service in yaml.safe_load(done.stdout)["services"].items()}
    assert images == {name: service["image"] for name, service in services(*overlays).items()}
