"""Package managers, build systems, version control, infrastructure and databases."""

# ruff: noqa: E501 - command lines and what programs read are not broken

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from corpus.provoke.case import Case
from corpus.provoke.projects import CRATE, code
from corpus.provoke.tools import is_there, link, python_packages, succeeds

_PYTHON_TOOLS = ("pip==25.2", "setuptools", "wheel", "uv", "poetry", "pre-commit")
_POSTGRES_PORT = "54329"


def prepare(tools: Path) -> None:
    """Install package managers, and start private servers of the databases that are there."""
    python_packages(tools / "py", *_PYTHON_TOOLS)
    link(tools, tools / "py" / "bin", "uv", "poetry", "pre-commit")
    _start_postgres(tools)
    _start_mariadb(tools)
    _start_redis(tools)


def finish(tools: Path) -> None:
    """Stop the servers."""
    for server in sorted(Path("/usr/lib/postgresql").glob("*/bin")):
        succeeds(*_as("postgres"), str(server / "pg_ctl"), "-m", "fast", "-D", f"{tools}/postgres/db", "stop")
    succeeds("mariadb-admin", "-S", f"{tools}/mariadb/s", "shutdown")
    succeeds("redis-cli", "-s", f"{tools}/redis.sock", "shutdown", "nosave")


def _start_postgres(tools: Path) -> None:
    data = tools / "postgres"
    servers = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not servers or succeeds("pg_isready", "-q", "-h", str(data), "-p", _POSTGRES_PORT):
        return
    control = servers[-1] / "pg_ctl"
    if not data.exists():
        data.mkdir()
        _owned_by("postgres", data)
        succeeds(*_as("postgres"), str(servers[-1] / "initdb"), "-A", "trust", "-U", "shop", "-D", f"{data}/db")
    options = f"-k {data} -p {_POSTGRES_PORT} -c listen_addresses="
    succeeds(*_as("postgres"), str(control), "-w", "-D", f"{data}/db", "-l", f"{data}/log", "-o", options, "start")


def _start_mariadb(tools: Path) -> None:
    data = tools / "mariadb"
    if not is_there("mariadbd") or succeeds("mariadb-admin", "-S", f"{data}/s", "ping"):
        return
    if not data.exists():
        data.mkdir()
        _owned_by("mysql", data)
        succeeds(
            "mariadb-install-db", "--user=mysql", f"--datadir={data}/db", "--auth-root-authentication-method=normal"
        )
    subprocess.Popen(
        [
            "mariadbd",
            "--no-defaults",
            "--user=mysql",
            f"--datadir={data}/db",
            f"--socket={data}/s",
            "--skip-networking",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    succeeds("mariadb-admin", "-S", f"{data}/s", "--wait=20", "ping")


def _start_redis(tools: Path) -> None:
    socket = tools / "redis.sock"
    if is_there("redis-server") and not succeeds("redis-cli", "-s", str(socket), "ping"):
        succeeds("redis-server", "--port", "0", "--unixsocket", str(socket), "--daemonize", "yes", "--save", "")


def _owned_by(user: str, folder: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(folder, user)


def _as(user: str) -> tuple[str, ...]:
    return ("runuser", "-u", user, "--") if os.geteuid() == 0 else ()


def _project(files: dict[str, str]) -> dict[str, str]:
    return {path: code(content) for path, content in files.items()}


def _case(form: str, name: str, command: str, files: dict[str, str] | None = None, **more: object) -> Case:
    return Case(format=form, name=name, command=command, files=_project(files or {}), **more)  # type: ignore[arg-type]


# --- pip, uv, poetry -------------------------------------------------------------------------------------------------

_VENV = "python3 -m venv ../env >/dev/null && cp -r $TOOLS/py/lib/python3*/site-packages/{setuptools*,pkg_resources,_distutils_hack,wheel*} ../env/lib/python3*/site-packages/ 2>/dev/null; true"
_PIP = "../env/bin/pip install --disable-pip-version-check"
# Where packages come from differs from one machine to the next.
_ANYWHERE = "2>&1 | sed -E '/^Looking in (indexes|links)/d; s#https?://[^ ]*/(packages|simple)/#https://packages.example.com/\\1/#'"

_SETUPTOOLS = """
    [build-system]
    requires = ["setuptools"]
    build-backend = "setuptools.build_meta"

    [project]
    name = "shop"
    version = "1.4.0"
"""
_EXTENSION = {
    "pyproject.toml": _SETUPTOOLS,
    "setup.py": """
        from setuptools import Extension, setup

        setup(ext_modules=[Extension("shop._prices", ["src/prices.c"])])
    """,
    "src/prices.c": """
        #include <Python.h>
        #include <libmoney/money.h>

        static PyObject *total(PyObject *self, PyObject *args) {
            return money_total(args);
        }
    """,
}
_FAILING_SETUP = {
    "pyproject.toml": _SETUPTOOLS,
    "setup.py": """
        import os

        from setuptools import setup


        def version():
            return os.environ["SHOP_VERSION"]


        setup(name="shop", version=version())
    """,
}

PIP = [
    _case("pip", "no_matching_version", f"{_PIP} 'requests==99.1' {_ANYWHERE}", setup=_VENV),
    _case("pip", "conflict", f"{_PIP} --dry-run 'requests==2.31.0' 'urllib3==1.20' {_ANYWHERE}", setup=_VENV),
    _case(
        "pip",
        "conflict_of_requirements_file",
        f"{_PIP} --dry-run -r requirements.txt {_ANYWHERE}",
        {"requirements.txt": "# web\nflask==3.0.0\nwerkzeug==2.2.0\nitsdangerous\n"},
        setup=_VENV,
    ),
    _case(
        "pip",
        "left_incompatible",
        f"{_PIP} 'urllib3==1.20' {_ANYWHERE}",
        setup=f"{_VENV}; {_PIP} requests==2.31.0",
    ),
    _case("pip", "setup_script_raises", f"{_PIP} . {_ANYWHERE}", _FAILING_SETUP, setup=_VENV),
    _case("pip", "header_missing", f"{_PIP} --no-build-isolation . {_ANYWHERE}", _EXTENSION, setup=_VENV),
    _case(
        "pip",
        "invalid_project_table",
        f"{_PIP} --no-build-isolation . {_ANYWHERE}",
        {"pyproject.toml": _SETUPTOOLS.rstrip(" \n") + '\n    dependencies = "requests"\n'},
        setup=_VENV,
    ),
    _case(
        "pip",
        "python_too_old",
        f"{_PIP} --no-build-isolation . {_ANYWHERE}",
        {"pyproject.toml": _SETUPTOOLS.rstrip(" \n") + '\n    requires-python = ">=3.99"\n'},
        setup=_VENV,
    ),
    _case("pip", "no_requirements_file", f"{_PIP} -r requirements-dev.txt", setup=_VENV),
    _case("pip", "invalid_requirement", f"{_PIP} 'flask=>2'", setup=_VENV),
    _case(
        "pip",
        "index_refuses",
        f"{_PIP} -i http://127.0.0.1:9/simple --retries 3 'flask' {_ANYWHERE}",
        setup=_VENV,
        environment={"no_proxy": "127.0.0.1"},
    ),
    _case("pip", "not_a_project", f"{_PIP} -e . {_ANYWHERE}", setup=_VENV),
    _case(
        "pip",
        "uv_no_solution",
        "uv pip install --python ../env/bin/python 'flask>=3' 'werkzeug<2' 2>&1",
        setup=_VENV,
        needs=("uv",),
    ),
    _case(
        "pip",
        "uv_build_fails",
        "uv pip install --python ../env/bin/python --no-build-isolation . 2>&1",
        _FAILING_SETUP,
        setup=_VENV,
        needs=("uv",),
    ),
    _case(
        "pip",
        "uv_lock_conflict",
        "uv lock 2>&1",
        {
            "pyproject.toml": """
                [project]
                name = "shop"
                version = "1.4.0"
                requires-python = ">=3.11"
                dependencies = ["requests==2.31.0", "urllib3<1.21"]
            """
        },
        needs=("uv",),
    ),
    _case(
        "pip",
        "poetry_group_missing",
        "POETRY_VIRTUALENVS_CREATE=false poetry install -n --with tests 2>&1",
        {"pyproject.toml": '[tool.poetry]\nname = "shop"\nversion = "1.4.0"\ndescription = ""\nauthors = []\n'},
        needs=("poetry",),
    ),
]

# --- cargo -----------------------------------------------------------------------------------------------------------

_MAIN = "fn main() {}\n"
_CRATES = "2>&1 | sed -E 's/Updating `[^`]*` index/Updating crates.io index/; s/registry `[^`]*`/registry `crates-io`/'"


def _cargo(name: str, command: str, files: dict[str, str], **more: object) -> Case:
    return _case("cargo", name, f"{command} {_CRATES}", files, needs=("cargo",), **more)


CARGO = [
    _cargo("no_manifest", "cargo build", {}),
    _cargo("unknown_key", "cargo build", {"Cargo.toml": '[package]\nversion = "0.1.0"\n', "src/main.rs": _MAIN}),
    _cargo("no_targets", "cargo build", {"Cargo.toml": CRATE}),
    _cargo(
        "no_such_version",
        "cargo build",
        {"Cargo.toml": CRATE + '[dependencies]\nserde = "99"\n', "src/main.rs": _MAIN},
    ),
    _cargo(
        "no_such_feature",
        "cargo build",
        {
            "Cargo.toml": CRATE + '[dependencies]\nserde = { version = "1", features = ["jsn"] }\n',
            "src/main.rs": _MAIN,
        },
    ),
    _cargo(
        "links_conflict",
        "cargo build",
        {
            "Cargo.toml": CRATE + '[dependencies]\na = { path = "a" }\nb = { path = "b" }\n',
            "src/main.rs": _MAIN,
            "a/Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nlinks = "z"\n',
            "a/build.rs": _MAIN,
            "a/src/lib.rs": "",
            "b/Cargo.toml": '[package]\nname = "b"\nversion = "0.1.0"\nlinks = "z"\n',
            "b/build.rs": _MAIN,
            "b/src/lib.rs": "",
        },
    ),
    _cargo(
        "path_missing",
        "cargo build",
        {"Cargo.toml": CRATE + '[dependencies]\nledger = { path = "../ledger" }\n', "src/main.rs": _MAIN},
    ),
    _cargo("no_such_bin", "cargo run --bin server", {"Cargo.toml": CRATE, "src/main.rs": _MAIN}),
    _cargo("no_such_command", "cargo biuld", {"Cargo.toml": CRATE, "src/main.rs": _MAIN}),
    _cargo(
        "build_script_fails",
        "cargo build",
        {
            "Cargo.toml": CRATE,
            "src/main.rs": _MAIN,
            "build.rs": """
                fn main() {
                    println!("cargo:rerun-if-env-changed=LIBMONEY_DIR");
                    eprintln!("looking for libmoney in /usr/lib");
                    eprintln!("libmoney not found, set LIBMONEY_DIR");
                    std::process::exit(1);
                }
            """,
        },
    ),
    _cargo("locked_is_stale", "cargo build --locked", {"Cargo.toml": CRATE, "src/main.rs": _MAIN}),
]

# --- cmake -----------------------------------------------------------------------------------------------------------

_LISTS = "cmake_minimum_required(VERSION 3.16)\nproject(shop C CXX)\n"


def _cmake(name: str, files: dict[str, str], command: str = "cmake -S . -B build") -> Case:
    return _case("cmake", name, command, files, needs=("cmake",))


CMAKE = [
    _cmake("package_not_found", {"CMakeLists.txt": _LISTS + "find_package(Money 2.1 REQUIRED)\n"}),
    _cmake("module_finds_nothing", {"CMakeLists.txt": _LISTS + "find_package(SDL REQUIRED)\n"}),
    _cmake(
        "several",
        {
            "CMakeLists.txt": _LISTS
            + "add_executable(shop main.cpp cart.cpp)\ntarget_link_librarys(shop m)\nadd_subdirectory(tests)\n",
            "main.cpp": "int main() {}\n",
        },
    ),
    _cmake(
        "sources_missing",
        {
            "CMakeLists.txt": _LISTS + "add_executable(shop main.cpp cart.cpp)\nadd_library(tax STATIC tax.cpp)\n",
            "main.cpp": "int main() {}\n",
        },
    ),
    _cmake("no_lists", {}),
    _cmake(
        "call_stack",
        {
            "CMakeLists.txt": _LISTS + "include(cmake/checks.cmake)\nrequire_tool(protoc-gen-shop)\n",
            "cmake/checks.cmake": """
                function(require_tool name)
                  find_program(TOOL ${name})
                  if(NOT TOOL)
                    message(FATAL_ERROR "${name} is needed to generate the API, install it with apt or set TOOL")
                  endif()
                endfunction()
            """,
        },
    ),
    _cmake("version_too_old", {"CMakeLists.txt": "cmake_minimum_required(VERSION 9.30)\nproject(shop)\n"}),
    _cmake(
        "other_build_folder",
        {"CMakeLists.txt": _LISTS},
        "mkdir build && sed -i s/x/x/ CMakeLists.txt && cmake -S . -B build >/dev/null && cp -r . ../copy && cmake -S ../copy -B ../copy/build",
    ),
    _cmake("parse_error", {"CMakeLists.txt": _LISTS + "add_executable(shop main.cpp\n"}),
    _cmake("no_generator", {"CMakeLists.txt": _LISTS}, "cmake -S . -B build -G 'Visual Studio 17 2022'"),
]

# --- make, ninja, scons ----------------------------------------------------------------------------------------------


def _make(name: str, files: dict[str, str], command: str = "make", *needs: str) -> Case:
    return _case(
        "make",
        name,
        command,
        {path: text.replace("    ", "\t") if "akefile" in path else text for path, text in files.items()},
        needs=("make", *needs),
    )


MAKE = [
    _make(
        "no_rule_for_source",
        {"Makefile": "shop: main.o cart.o\n    cc -o $@ $^\n", "main.c": "int main(void){return 0;}\n"},
    ),
    _make("no_target", {"Makefile": "build:\n    true\n"}, "make tset"),
    _make("no_makefile", {}),
    _make("missing_separator", {"Makefile": "build:\n  echo building\n"}),
    _make(
        "recipe_fails",
        {
            "Makefile": "all: report\nreport:\n    @echo collecting sales\n    @echo no sales file for 2026 >&2; exit 3\n"
        },
    ),
    _make(
        "recursive",
        {
            "Makefile": "all:\n    $(MAKE) -C lib\n",
            "lib/Makefile": "all: tables\ntables:\n    $(MAKE) -C gen\n",
            "lib/gen/Makefile": "all:\n    ./gen-tables --out tables.h\n",
        },
    ),
    _make("shell_loop", {"Makefile": "deploy:\n    rsync-shop --target $(HOST)\n"}, "make deploy HOST=web1"),
    _make("parallel", {"Makefile": "all: a b c\na b c:\n    @test -f $@.txt\n"}, "make -j3 -k"),
    _make(
        "ninja_missing_source",
        {"build.ninja": "rule cc\n  command = gcc -c $in -o $out\nbuild main.o: cc main.c\n"},
        "ninja",
        "ninja",
    ),
    _make(
        "ninja_command_fails",
        {
            "build.ninja": "rule gen\n  command = echo tables.csv is empty, nothing to generate; exit 4\nbuild tables.h: gen tables.csv\n",
            "tables.csv": "",
        },
        "ninja",
        "ninja",
    ),
    _make(
        "ninja_unknown_target",
        {"build.ninja": "rule t\n  command = touch $out\nbuild all: t\n"},
        "ninja tests",
        "ninja",
    ),
    _make("scons_no_source", {"SConstruct": "Program('shop', ['main.c'])\n"}, "scons -Q", "scons"),
]

# --- git -------------------------------------------------------------------------------------------------------------

_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "no_proxy": "127.0.0.1,localhost",
    **{
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Dev"), ("EMAIL", "dev@example.org"), ("DATE", "2026-01-05T10:00:00Z"))
    },
}
_INIT = "git init -q -b main . && git add -A && git commit -q --allow-empty -m start"
_CART = {"cart.py": "def total(items):\n    return sum(items)\n", "tax.py": "RATE = 0.19\n"}
_TWO_BRANCHES = (
    f"{_INIT} && git switch -q -c discounts && sed -i 's/sum(items)/sum(items) * 0.9/' cart.py && sed -i s/19/07/ tax.py && git commit -qam discounts"
    " && git switch -q main && sed -i 's/sum(items)/round(sum(items), 2)/' cart.py && sed -i s/19/16/ tax.py && git commit -qam rounding"
)
_REMOTE = (
    f"{_INIT} && git init -q --bare -b main ../shop.git && git remote add origin ../shop.git && git push -q -u origin main"
    " && git clone -q ../shop.git ../other && cd ../other && git commit -q --allow-empty -m other && git push -q origin HEAD:main"
)


def _git(
    name: str, command: str, setup: str = _INIT, files: dict[str, str] | None = None, needs: tuple[str, ...] = ()
) -> Case:
    return _case(
        "git", name, command, _CART if files is None else files, setup=setup, needs=("git", *needs), environment=_GIT
    )


GIT = [
    _git("pathspec", "git checkout featrue/discounts"),
    _git("not_a_repository", "git status", "true"),
    _git("index_lock", "git commit -qam 'Round totals'", f"{_INIT} && touch .git/index.lock && echo >> tax.py"),
    _git("merge_conflict", "git merge discounts", _TWO_BRANCHES),
    _git("rebase_conflict", "git rebase discounts", _TWO_BRANCHES),
    _git("push_rejected", "git commit -q --allow-empty -m mine && git push origin main 2>&1", _REMOTE),
    _git(
        "push_declined",
        "git commit -q --allow-empty -m mine && git push --force origin main 2>&1",
        f"{_REMOTE} && printf '#!/bin/sh\\necho \"main is protected: open a pull request instead\"\\nexit 1\\n' > ../shop.git/hooks/pre-receive && chmod +x ../shop.git/hooks/pre-receive",
    ),
    _git("would_be_overwritten", "git checkout discounts", f"{_TWO_BRANCHES} && echo >> cart.py && echo >> tax.py"),
    _git("unknown_revision", "git diff HEAD~50 -- cart.py"),
    _git(
        "patch_does_not_apply",
        "git apply round.patch",
        files={
            **_CART,
            "round.patch": "--- a/cart.py\n+++ b/cart.py\n@@ -1,2 +1,2 @@\n def totals(items):\n-    return sum(items)\n+    return round(sum(items), 2)\n",
        },
    ),
    _git("no_upstream", "git switch -q -c discounts && git push", _REMOTE),
    _git("host_unknown", "git clone https://git.shop.invalid/web/shop.git", "true"),
    _git("remote_missing", "git fetch upstream"),
    _git("nothing_to_commit", "git commit -m 'Round totals'"),
    _git(
        "hooks_fail",
        "git add -A && git commit -m 'Round totals' 2>&1",
        f"{_INIT} && pre-commit install >/dev/null && echo >> tax.py",
        {
            **_CART,
            ".pre-commit-config.yaml": """
                repos:
                  - repo: local
                    hooks:
                      - id: changelog
                        name: changelog entry
                        language: system
                        entry: sh -c 'echo "CHANGELOG.md has no entry for tax.py"; exit 1'
                        files: tax.py
                      - id: spelling
                        name: spelling
                        language: system
                        entry: "true"
                      - id: size
                        name: size of files
                        language: system
                        entry: sh -c 'echo "tax.py grew by 4 kB (limit 1 kB)" >&2; exit 2'
                        files: tax.py
            """,
        },
        ("pre-commit",),
    ),
    _git("unknown_option", "git log --onelin"),
]

# --- docker, kubectl, terraform --------------------------------------------------------------------------------------

_NO_CONFIG = {"TF_CLI_CONFIG_FILE": os.devnull}
_NO_DAEMON = {"DOCKER_HOST": "unix:///var/run/docker.sock"}

DOCKER = [
    _case("docker", "no_daemon", "docker ps", needs=("docker",), environment=_NO_DAEMON),
    _case(
        "docker",
        "no_daemon_to_build",
        "docker build -t shop . 2>&1",
        {"Dockerfile": "FROM python:3.12\n"},
        needs=("docker",),
        environment=_NO_DAEMON,
    ),
    _case(
        "docker",
        "no_daemon_to_run",
        "docker run --rm -p 5432:5432 postgres:16",
        needs=("docker",),
        environment=_NO_DAEMON,
    ),
    _case("docker", "unknown_flag", "docker run --naem web nginx", needs=("docker",), environment=_NO_DAEMON),
    _case("docker", "unknown_command", "docker buidl .", needs=("docker",), environment=_NO_DAEMON),
]
INFRA = [
    _case("infra", "kubectl_refused", "kubectl --server http://127.0.0.1:9 get pods", needs=("kubectl",)),
    _case(
        "infra",
        "kubectl_no_context",
        "kubectl --kubeconfig kubeconfig --context prod get pods",
        {"kubeconfig": "apiVersion: v1\nkind: Config\n"},
        needs=("kubectl",),
    ),
    _case(
        "infra", "kubectl_path_missing", "kubectl --server http://127.0.0.1:9 apply -f deploy.yaml", needs=("kubectl",)
    ),
    _case(
        "infra",
        "kubectl_invalid_manifest",
        "kubectl --server http://127.0.0.1:9 apply --validate=false -f deploy.yaml",
        {"deploy.yaml": "kind: Deployment\nmetadata:\n  name: web\n   labels: {}\n"},
        needs=("kubectl",),
    ),
    _case(
        "infra",
        "terraform_validate",
        "terraform init -input=false >/dev/null 2>&1; terraform validate -no-color 2>&1",
        {
            "main.tf": """
                variable "region" {
                  type = string
                }

                resource "terraform_data" "cart" {
                  input = var.regoin
                  inputs = local.size
                }

                output "id" {
                  value = terraform_data.basket.id
                }
            """
        },
        needs=("terraform",),
        environment=_NO_CONFIG,
    ),
    _case(
        "infra",
        "terraform_syntax",
        "terraform validate -no-color 2>&1",
        {"main.tf": 'resource "terraform_data" "cart" {\n  input = \n}\n'},
        needs=("terraform",),
        environment=_NO_CONFIG,
    ),
    _case(
        "infra",
        "terraform_no_value",
        "terraform init -input=false >/dev/null 2>&1; terraform plan -no-color -input=false 2>&1",
        {"main.tf": 'variable "region" {\n  type = string\n}\n'},
        needs=("terraform",),
        environment=_NO_CONFIG,
    ),
]

# --- apt, dpkg, dnf --------------------------------------------------------------------------------------------------

_APT_UPDATE = "apt-get update -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$PWD/lists -o Acquire::Retries=0 -o Acquire::http::Proxy=DIRECT -o Acquire::http::Timeout=5 -o APT::Sandbox::User=root -o Dir::Cache=$PWD/cache 2>&1"

_DPKG_ROOT = "mkdir -p root/var/lib/dpkg/{info,updates} && touch root/var/lib/dpkg/{status,available}"


def _apt(name: str, command: str, files: dict[str, str] | None = None, setup: str = "", *needs: str) -> Case:
    return _case("apt", name, command, files, setup=setup, needs=needs or ("apt-get",))


APT = [
    _apt("no_such_package", "apt-get install -y -s libmoney-dev postgres-shop 2>&1"),
    _apt("no_such_version", "apt-get install -y -s make=9.99 2>&1"),
    _apt(
        "mirrors_refuse",
        _APT_UPDATE,
        {
            "sources.list": "deb http://127.0.0.1:9/debian bookworm main\ndeb http://127.0.0.1:9/debian bookworm-updates main\ndeb http://127.0.0.1:9/security bookworm-security main\n"
        },
        "mkdir -p lists/partial cache/archives/partial",
    ),
    _apt(
        "mirror_unknown",
        _APT_UPDATE,
        {
            "sources.list": "deb http://deb.mirror.invalid/debian bookworm main\ndeb http://deb.mirror.invalid/debian bookworm-updates main\n"
        },
        "mkdir -p lists/partial cache/archives/partial",
    ),
    _apt(
        "unmet_dependencies",
        "apt-get install -y -s -o Dir::State::Lists=$PWD/lists -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Cache=$PWD/cache shop-server 2>&1",
        {
            "repository/Packages": "Package: shop-server\nVersion: 1.4.0\nArchitecture: all\nDepends: libmoney2 (>= 2.1), shop-data (= 1.4.0)\nFilename: ./a.deb\nSize: 1\nDescription: shop\n\nPackage: shop-data\nVersion: 1.3.2\nArchitecture: all\nFilename: ./b.deb\nSize: 1\nDescription: data\n",
        },
        "mkdir -p lists/partial cache/archives/partial && echo 'deb [trusted=yes]' copy://$PWD/repository ./ >sources.list && apt-get update -o APT::Sandbox::User=root -o Dir::State::Lists=$PWD/lists -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Cache=$PWD/cache",
    ),
    _apt("invalid_operation", "apt-get instal make 2>&1"),
    _apt(
        "dpkg_not_an_archive",
        "dpkg --root=$PWD/root --force-not-root -i shop.deb 2>&1",
        {"shop.deb": "<html>not found</html>\n"},
        _DPKG_ROOT,
    ),
    _apt(
        "dpkg_script_fails",
        "dpkg --root=$PWD/root --force-not-root --force-script-chrootless -i shop.deb 2>&1",
        {
            "pkg/DEBIAN/control": "Package: shop-data\nVersion: 1.4.0\nArchitecture: all\nMaintainer: Dev <dev@example.org>\nDescription: data\n",
            "pkg/DEBIAN/postinst": "#!/bin/sh\necho 'cannot reach the catalogue server' >&2\nexit 7\n",
        },
        "chmod 755 pkg/DEBIAN pkg/DEBIAN/postinst && dpkg-deb -b pkg shop.deb && " + _DPKG_ROOT,
        "dpkg-deb",
    ),
    _apt(
        "dnf_no_package",
        "dnf --disablerepo='*' --releasever=40 --installroot=$PWD/root install -y libmoney-devel 2>&1",
        None,
        "",
        "dnf",
    ),
]

# --- databases -------------------------------------------------------------------------------------------------------

_PSQL = f"psql -X -q -h $TOOLS/postgres -p {_POSTGRES_PORT} -U shop -d postgres"
_SCHEMA = f"""{_PSQL} <<'END'
drop table if exists item;
drop table if exists orders;
create table orders(id int primary key, email text unique not null, total numeric check (total >= 0));
create table item(id serial, order_id int references orders(id));
insert into orders values (1, 'ann@example.org', 3);
END"""


def _postgres(name: str, sql: str, **more: object) -> Case:
    return _case(
        "database", name, f"{_PSQL} -f query.sql 2>&1", {"query.sql": sql}, setup=_SCHEMA, needs=("psql",), **more
    )


_MYSQL = "mariadb -S $TOOLS/mariadb/s -u root"
_SQLITE = "sqlite3 shop.db"
_REDIS = "redis-cli -s $TOOLS/redis.sock"

DATABASE = [
    _postgres("postgres_no_relation", "select 1;\nselect id, total\nfrom order_lines\nwhere total > 3;\n"),
    _postgres("postgres_no_column", "select id,\n  emial from orders;\n"),
    _postgres("postgres_syntax", "selct * from orders;\n"),
    _postgres("postgres_unique", "insert into orders values (2, 'ann@example.org', 5);\n"),
    _postgres("postgres_foreign_key", "insert into item(order_id) values (4711);\n"),
    _postgres("postgres_check", "insert into orders values (3, 'bob@example.org', -5);\n"),
    _postgres(
        "postgres_aborted_transaction",
        "begin;\ninsert into orders values (5, null, 5);\nselect count(*) from orders;\nupdate orders set total = 4 where id = 1;\ncommit;\n",
    ),
    _postgres(
        "postgres_function",
        """
        create or replace function rate(total numeric) returns numeric as $$
        begin
          return 100 / total;
        end $$ language plpgsql;
        select rate(0);
        """,
    ),
    _case(
        "database",
        "postgres_no_database",
        f"psql -X -h $TOOLS/postgres -p {_POSTGRES_PORT} -U shop -d shop_test -c 'select 1'",
        needs=("psql",),
    ),
    _case("database", "postgres_no_server", "psql -X -h 127.0.0.1 -p 5499 -U shop -c 'select 1'", needs=("psql",)),
    _case(
        "database",
        "mysql_syntax",
        f"{_MYSQL} < query.sql 2>&1",
        {"query.sql": "create database if not exists shop;\nuse shop;\nselct * from orders;\n"},
        needs=("mariadb",),
    ),
    _case(
        "database",
        "mysql_no_table",
        f"{_MYSQL} -e 'create database if not exists shop; select * from shop.orders' 2>&1",
        needs=("mariadb",),
    ),
    _case(
        "database",
        "mysql_duplicate",
        f'{_MYSQL} -e "create database if not exists shop; use shop; create or replace table t(id int primary key); insert into t values (1); insert into t values (1)" 2>&1',
        needs=("mariadb",),
    ),
    _case("database", "mysql_no_server", "mariadb -S /run/mysqld/none.sock -u root 2>&1", needs=("mariadb",)),
    _case(
        "database",
        "sqlite_no_table",
        f"{_SQLITE} < query.sql 2>&1",
        {"query.sql": "create table orders(id integer primary key);\nselect * from order_lines;\n"},
        needs=("sqlite3",),
    ),
    _case(
        "database",
        "sqlite_unique",
        f"{_SQLITE} 'create table t(id integer primary key, email text unique); insert into t values (1, 1); insert into t values (2, 1)' 2>&1",
        needs=("sqlite3",),
    ),
    _case("database", "sqlite_syntax", f"{_SQLITE} 'selct 1' 2>&1", needs=("sqlite3",)),
    _case(
        "database",
        "redis_wrong_type",
        f"{_REDIS} set cart 1 >/dev/null; {_REDIS} lpush cart 2",
        needs=("redis-cli", "redis-server"),
    ),
    _case("database", "redis_unknown_command", f"{_REDIS} GTE cart", needs=("redis-cli", "redis-server")),
    _case("database", "redis_no_server", "redis-cli -p 6399 ping", needs=("redis-cli",)),
]

CASES = [*PIP, *CARGO, *CMAKE, *MAKE, *GIT, *DOCKER, *INFRA, *APT, *DATABASE]
