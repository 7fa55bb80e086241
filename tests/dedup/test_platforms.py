"""Names that platforms make are one class, and names that people give are classes of their own."""

from __future__ import annotations

import pytest

from otel_errcompact.dedup.masking import mask

MADE = (
    ("Revision '{}' is not ready", "checkout-api-00012-foo", "checkout-api-00113-zuq", "checkout-api-<id>"),
    ("Revision {} has no route", "hello-00001", "hello-00042", "hello-<id>"),
    ("bucket {} is taken", "logs-00679ed", "logs-91c0ffe", "logs-<id>"),
    ('pods "{}" not found', "load-28412345-abcde", "load-28412346-x7k2p", "load-<id>"),
    ("cronjob made {}", "report-28412345", "report-29412999", "report-<id>"),
    ("workflow {} failed", "load-orders-x7k2p", "load-orders-q9bd4", "load-orders-<id>"),
    ("TaskRun {} failed", "build-run-x7k2p", "build-run-bcd9z", "build-run-<id>"),
    ("dag run {} failed", "manual__2024-01-05T10:11:12+00:00", "manual__2025-03-01T00:00:01.123456+00:00", "<id>"),
    ("run_id={} is unknown", "scheduled__2024-01-05T00:00:00+00:00", "scheduled__2024-02-05T00:00:00+00:00", "<id>"),
    ("{} overflowed", "RenderFlex#d7660", "RenderFlex#0a1bc", "RenderFlex#<id>"),
    ("closure {} failed", "main#41", "main#57", "main#<id>"),
    (
        "no file '{}/Build/a.swift'",
        "DerivedData/Shop-bqzlcahcsjoyhvfddxkqosrdqykb",
        "DerivedData/Shop-gvnthyklqwertyuiopasdfghjklz",
        "DerivedData/Shop-<id>",
    ),
    ("[{}] node down", "gw0", "gw13", "<id>"),
    ("[{}]: NCCL error", "rank0", "rank3", "<id>"),
    ("while calling {}.select.", "o181", "o7", "<id>"),
    ("Application {} failed", "application_1699999999999_0012", "application_1700000000000_0113", "application_<id>"),
    ("No such file {}.index", "shuffle_0_12_0", "shuffle_3_7_0", "shuffle_<id>"),
    ("order {} has no lines", "ORD4711", "ORD9902", "<id>"),
    ("Customer {} is blocked", "C10023", "C99887", "<id>"),
    ("bad value key1='{}'", "str0", "str7", "<value>"),
    ("artefact packages/Taxes/{} is missing", "47eRY", "b8Kq2", "<id>"),
    ("container {} is unhealthy", "shop-db-1", "shop-db-2", "shop-db-<id>"),
    ("Flow run '{}' failed", "wondrous-beagle", "hip-mammoth", "<id>"),
    ("in {} of the class", "com.sun.proxy.$Proxy12", "com.sun.proxy.$Proxy23", "com.sun.proxy.$<id>"),
    ("thread {} died", "pool-1-thread-2", "pool-7-thread-13", "pool-<id>-thread-<id>"),
    (
        "cannot read /nix/store/{}/setup",
        "7skkd4n1kmkl9dmql1219fqwxbjcas81-stdenv-linux",
        "9krlzvny65gdc8s7kpb6lkx8cd02c25b-stdenv-linux",
        "<id>-stdenv-linux",
    ),
)
GIVEN = (
    ("ORA-{}: table", "00942", "00904"),
    ("CVE-{} found", "2021-44228", "2021-45046"),
    ("protocol {} is not supported", "HTTP/2", "HTTP/3"),
    ("{} is needed", "python-3-11", "python-3-12"),
    ("'{}' codec can't decode", "utf-8", "utf-16"),
    ("host {} is down", "web-01", "web-02"),
    ("unknown algorithm {}", "sha256", "sha512"),
    ("no image {}", "alpine3", "debian12"),
    ("machine {} is unknown", "n1-standard-4", "n1-standard-8"),
    ("region {} is not enabled", "us-east-1", "us-west-2"),
    ("zone {} has no room", "us-central1-a", "europe-west4-b"),
    ("model {} is gone", "o1-mini", "o3-mini"),
    ("encoding {} is unknown", "o200k_base", "cl100k_base"),
    ("no package {}", "libssl1.1", "libssl3"),
    ("no tag {}", "v1.2.3", "v1.2.4"),
    ("codec {} not found", "libx264", "libx265"),
    ("error {}: no", "TS2345", "TS2322"),
    ("rule {} is broken", "SC2086", "SC2034"),
    ("no branch {}", "release-2024-05", "release-2024-06"),
    ("no service {}", "api-gateway", "auth-gateway"),
    ("job {} failed", "build-linux", "build-macos"),
    ("workflow {} failed", "load-orders", "load-items"),
    ("order {} failed", "import", "export"),
    ("dtype='{}' is unsupported", "float32", "float64"),
    ("Unknown column '{}'", "col1", "col2"),
    ("arch='{}' is unsupported", "sm80", "sm90"),
    ("undefined method Cart#{}", "total", "added"),
    ("no provider for app/{}", "OAuth2", "OAuth1"),
    ("no module app/{}", "Base64", "Base32"),
    ("no file part-{}", "007a", "008a"),
    ("Unknown collation: '{}'", "utf8mb4_0900_ai_ci", "utf8mb4_unicode_ci"),
    ("chromosome {} is not in the reference", "chr1", "chrX"),
    ("no package in nixpkgs: {}", "stdenv-linux", "stdenv-darwin"),
)


@pytest.mark.parametrize(("form", "one", "other", "template"), MADE)
def test_name_of_a_platform_is_an_id(form: str, one: str, other: str, template: str):
    """Another try has another name, and the same class."""
    assert mask(form.format(one)) == mask(form.format(other)) == form.format(template)


@pytest.mark.parametrize(("form", "one", "other"), GIVEN)
def test_name_that_people_give_stays(form: str, one: str, other: str):
    """Versions, codes and names that look nearly like ids tell classes apart."""
    assert mask(form.format(one)) == form.format(one)
    assert mask(form.format(other)) == form.format(other)
