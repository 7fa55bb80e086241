"""One outage is one class, whichever page or file met it."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.dedup.outages import OUTAGES, leave_place
from otel_errcompact.errors import RawError

PATHS = (
    "/v1/orders",
    "/v1/orders/17",
    "/users",
    "/a/b/c.json",
    "/health",
    "/search?q=x&page=3",
    "/files/report.pdf",
    "/",
)
FILES = (
    *("/data/a.csv", "/var/log/app.log", "/srv/shop/out/report_2024.txt", "/home/ann/shop/b.json"),
    *("/tmp/build-1/x.o", "/mnt/disk1/c", "data/e.csv", "/opt/acme/Makefile"),
)
HOST = {
    401: "Unauthorized",
    407: "Proxy Authentication Required",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
PAGE = {403: "Forbidden", 404: "Not Found", 410: "Gone", 422: "Unprocessable Entity"}
CLIENTS = {
    "requests": "requests.exceptions.HTTPError: {status} Server Error: {reason} for url: {url}",
    "httpx": "httpx.HTTPStatusError: Server error '{status} {reason}' for url '{url}'\nFor more information check: "
    "https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/{status}",
    "aiohttp": "aiohttp.client_exceptions.ClientResponseError: {status}, message='{reason}', url='{url}'",
    "fetch": "Error: HTTP error! status: {status}, url: {url}",
    "fetch in words": "Error: GET {url} failed: {status} {reason}",
    "got": "HTTPError: Response code {status} ({reason}) for {url}",
    "go": "GET {url}: {status} {reason}",
    "go in words": 'Error: Get "{url}": unexpected status code {status} {reason}',
    "gh": "HTTP {status}: {reason} ({url})",
    "npm": "npm ERR! code E{status}\nnpm ERR! {status} {reason} - GET {url}",
    "git": "fatal: unable to access '{url}': The requested URL returned error: {status}",
    "java": 'Exception in thread "main" java.io.IOException: Server returned HTTP response code: {status} for URL: '
    "{url}\n\tat com.acme.Main.main(Main.java:3)",
    "spring": "org.springframework.web.client.HttpServerErrorException: {status} {reason} on GET request for "
    '"{url}": [down]',
    "ruby": "OpenURI::HTTPError: {status} {reason} for {url}",
}
WITHOUT_PATH = {
    "urllib": "urllib.error.HTTPError: HTTP Error {status}: {reason}",
    "curl": "curl: (22) The requested URL returned error: {status}",
    "axios": "AxiosError: Request failed with status code {status}\n"
    "    at settle (/srv/app/node_modules/axios/lib/core/settle.js:19:12) {{\n  config: {{\n    url: '{url}'\n  }}\n}}",
}
DEVICE = {
    "ENOSPC": (28, "No space left on device", "no space left on device"),
    "EMFILE": (24, "Too many open files", "too many open files"),
    "ENFILE": (23, "Too many open files in system", "file table overflow"),
    "EROFS": (30, "Read-only file system", "read-only file system"),
    "EDQUOT": (122, "Disk quota exceeded", "disk quota exceeded"),
    "EIO": (5, "Input/output error", "i/o error"),
    "ENOMEM": (12, "Cannot allocate memory", "not enough memory"),
}
FILE = {
    "ENOENT": (2, "No such file or directory", "no such file or directory"),
    "EACCES": (13, "Permission denied", "permission denied"),
    "EISDIR": (21, "Is a directory", "illegal operation on a directory"),
}
PROGRAMS = {
    "python": "OSError: [Errno {number}] {words}: '{file}'",
    "two files": "OSError: [Errno {number}] {words}: '{file}' -> '{file}.bak'",
    "node": "Error: {name}: {small}, open '{file}'",
    "node with a stack": "Error: {name}: {small}, open '{file}'\n    at Object.openSync (node:fs:581:18)\n"
    "    at save (/srv/app/src/a.js:3:9) {{\n  errno: -{number},\n  code: '{name}',\n  path: '{file}'\n}}",
    "npm": "npm ERR! code {name}\nnpm ERR! path {file}\nnpm ERR! {name}: {small}, open '{file}'",
    "cp": "cp: error writing '{file}': {words}",
    "mkdir": "mkdir: cannot create directory \u2018{file}\u2019: {words}",
    "tee": "tee: {file}: {words}",
    "bash": "bash: line 3: {file}: {words}",
    "java": "java.io.FileNotFoundException: {file} ({words})",
    "go": "write {file}: {words}",
    "go open": "Error: open {file}: {words}",
    "ruby": "Errno::{name}: {words} @ rb_sysopen - {file}",
    "tar": "tar: {file}: Cannot write: {words}",
}


def keys_of(texts: list[str]) -> set[str]:
    """Return the keys of texts."""
    return {classify(RawError(text=text, exit_code=1)).key for text in texts}


@pytest.mark.parametrize("form", [*CLIENTS.values(), *WITHOUT_PATH.values()], ids=[*CLIENTS, *WITHOUT_PATH])
@pytest.mark.parametrize("status", HOST)
def test_a_host_that_is_down_is_one_class(form: str, status: int):
    """A status of the host leaves the path of the URL out, in the form of each client."""
    urls = [f"https://api.example.com{path}" for path in PATHS]

    assert len(keys_of([form.format(status=status, reason=HOST[status], url=url) for url in urls])) == 1


@pytest.mark.parametrize("form", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize("status", PAGE)
def test_a_page_that_is_missing_is_a_class_of_its_own(form: str, status: int):
    """A status of the page keeps its path."""
    urls = [f"https://api.example.com{path}" for path in PATHS]

    assert len(keys_of([form.format(status=status, reason=PAGE[status], url=url) for url in urls])) == len(PATHS)


@pytest.mark.parametrize("form", CLIENTS.values(), ids=CLIENTS)
def test_hosts_and_statuses_are_apart(form: str):
    """Another host, or another status, is another outage."""
    texts = [
        form.format(status=status, reason=HOST[status], url=f"https://{host}.example.com/a")
        for status in HOST
        for host in ("api", "shop")
    ]

    assert len(keys_of(texts)) == len(texts)


@pytest.mark.parametrize("form", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("name", DEVICE)
def test_a_full_device_is_one_class(form: str, name: str):
    """An errno of the device leaves the file out, in the form of each program."""
    number, words, small = DEVICE[name]
    texts = [form.format(number=number, words=words, small=small, name=name, file=file) for file in FILES]

    assert len(keys_of(texts)) == 1


@pytest.mark.parametrize("form", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("name", FILE)
def test_a_file_that_is_missing_is_a_class_of_its_own(form: str, name: str):
    """An errno of the file keeps it."""
    number, words, small = FILE[name]
    texts = [form.format(number=number, words=words, small=small, name=name, file=file) for file in FILES]

    assert len(keys_of(texts)) == len(FILES)


@pytest.mark.parametrize(("template", "left"), [pair for outage in OUTAGES for pair in outage.masks])
def test_place_is_left_out(template: str, left: str):
    """What is left is its own template."""
    assert leave_place(template) == leave_place(left) == left


@pytest.mark.parametrize("template", [template for outage in OUTAGES for template in outage.keeps])
def test_place_stays(template: str):
    """Other reasons keep the place, and what is no place stays."""
    assert leave_place(template) == template
