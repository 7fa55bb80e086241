"""Putting the proxy before the servers of a client's file, and taking it away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.mcp_proxy.configs.files import unwrap_servers, wrap_servers
from otel_errcompact_hosts.mcp_proxy.serving import read_headers

CLAUDE = """{
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "."
      ],
      "env": { "DEBUG": "1" }
    },
    "shop": { "command": "shop-server" },
    "issues": {
      "type": "http",
      "url": "https://example.com/mcp",
      "headers": { "Authorization": "Bearer ${TOKEN}", "X-Team": "shop" }
    }
  }
}
"""
CLAUDE_WRAPPED = """{
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "errcompact",
      "args": [
        "mcp", "--", "npx", "-y",
        "@modelcontextprotocol/server-filesystem",
        "."
      ],
      "env": { "DEBUG": "1" }
    },
    "shop": { "command": "errcompact", "args": [ "mcp", "--", "shop-server" ] },
    "issues": {
      "type": "stdio",
      "command": "errcompact",
      "args": ["mcp", "--transport", "http", "--url", "https://example.com/mcp"],
      "env": { "ERRCOMPACT_HEADER_Authorization": "Bearer ${TOKEN}", "ERRCOMPACT_HEADER_X-Team": "shop" }
    }
  }
}
"""
GEMINI = """{
\t"theme": "dark", // mine
\t"mcpServers": {
\t\t"net": {"httpUrl": "https://example.com/mcp", "timeout": 5000},
\t\t"old": {"url": "https://example.com/sse", "trust": false,},
\t},
}"""
GEMINI_WRAPPED = GEMINI.replace(
    '"httpUrl": "https://example.com/mcp"',
    '"command": "errcompact", "args": ["mcp", "--transport", "http", "--url", "https://example.com/mcp"]',
).replace(
    '"url": "https://example.com/sse"',
    '"command": "errcompact", "args": ["mcp", "--url", "https://example.com/sse"]',
)


@pytest.mark.parametrize(
    ("name", "text", "wrapped"),
    [
        pytest.param(".mcp.json", CLAUDE, CLAUDE_WRAPPED, id="Claude and Cursor"),
        pytest.param("settings.json", GEMINI, GEMINI_WRAPPED, id="Gemini"),
        pytest.param(
            "mcp.json",
            '{"inputs": [], "servers": {"a": {"command": "x", "args": []}}}',
            '{"inputs": [], "servers": {"a": {"command": "errcompact", "args": ["mcp", "--", "x"]}}}',
            id="VS Code",
        ),
        pytest.param(
            "opencode.json",
            '{"mcp": {"a": {"type": "local", "command": ["x", "y"], "enabled": true}}}',
            '{"mcp": {"a": {"type": "local", "command": ["errcompact", "mcp", "--", "x", "y"], "enabled": true}}}',
            id="OpenCode",
        ),
        pytest.param(
            ".claude.json",
            '{"projects": {"/srv/a": {"mcpServers": {"s": {"command": "x", "args": ["--", "y"]}}}}}',
            '{"projects": {"/srv/a": {"mcpServers": {"s": {"command": "errcompact", "args": ["mcp", "--", "x", "--", '
            '"y"]}}}}}',
            id="Claude's own file",
        ),
    ],
)
def test_servers_are_wrapped_and_given_back_byte_for_byte(name: str, text: str, wrapped: str) -> None:
    """Whatever else stands in the file, comments and all."""
    done = wrap_servers(text, name)
    assert done.text == wrapped
    assert done.left == ()
    assert unwrap_servers(done.text, name).text == text


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"url": "https://a", "oauth": {}}, "its 'oauth' cannot be passed on"),
        ({"serverUrl": "https://a", "url": "https://a"}, "its 'serverUrl' cannot be passed on"),
        ({"url": "https://a", "headers": {"A": "b"}, "env": {}}, "it has headers and variables"),
        ({"url": "https://a", "headers": {"A": 1}}, "its header 'A' is no text"),
        ({"url": "https://a", "headers": "A: b"}, "its headers are no object"),
        ({"url": "https://a", "type": "ws"}, 'its type "ws" is not known'),
        ({"url": 7}, "its 'url' is no text"),
        ({"command": "x", "url": "https://a"}, "it has a command and an address"),
        ({"command": "x", "args": "y"}, "its arguments are no list"),
        ({"command": []}, "its command is empty"),
        ({"command": 7}, "its command is no text"),
    ],
)
def test_what_cannot_be_wrapped_without_loss_is_left_with_the_reason(entry: dict[str, Any], reason: str) -> None:
    """The others are wrapped all the same."""
    text = json.dumps({"mcpServers": {"odd": entry, "plain": {"command": "x", "args": ["y"]}}})
    done = wrap_servers(text, ".mcp.json")
    assert done.changed == ("plain",)
    assert [(server, why.startswith(reason)) for server, why in done.left] == [("odd", True)]
    assert json.loads(done.text)["mcpServers"]["odd"] == entry


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "errcompact", "args": ["mcp", "--", "x"]},
        {"command": "/opt/bin/errcompact", "args": ["mcp", "--url", "https://a"]},
    ],
)
def test_what_is_wrapped_is_not_wrapped_again(entry: dict[str, Any]) -> None:
    """However often the command is given."""
    text = json.dumps({"mcpServers": {"a": entry}})
    done = wrap_servers(text, ".mcp.json")
    assert (done.text, done.changed, done.left) == (text, (), ())


def test_a_server_on_the_net_of_opencode_is_left() -> None:
    """There a local server has its command in a list."""
    done = wrap_servers('{"mcp": {"a": {"type": "remote", "url": "https://a"}}}', "opencode.json")
    assert done.left == (("a", "a server on the net cannot become a local one there"),)


def test_only_the_server_that_is_named(tmp_path: Any) -> None:
    """By its name in the file."""
    done = wrap_servers(CLAUDE, ".mcp.json", only=["shop"])
    assert done.changed == ("shop",)
    with pytest.raises(ConfigurationError, match=r"names no server 'tea'; it names files, issues, shop"):
        wrap_servers(CLAUDE, ".mcp.json", only=["tea"])


@pytest.mark.parametrize("text", ["{}", '{"mcpServers": {}}', '{"mcpServers": []}', '{"servers": {"a": {"x": 1}}}', ""])
def test_a_file_without_servers(text: str) -> None:
    """Says which places are known."""
    with pytest.raises(ConfigurationError, match="names no MCP server; known are 'mcpServers'"):
        wrap_servers(text, ".mcp.json")


def test_a_path_of_the_program(tmp_path: Any) -> None:
    """As clients need it that are not started from a shell."""
    done = wrap_servers(CLAUDE, ".mcp.json", only=["shop"], program="C:\\tools\\errcompact.exe")
    assert json.loads(done.text)["mcpServers"]["shop"]["command"] == "C:\\tools\\errcompact.exe"
    assert unwrap_servers(done.text, ".mcp.json").text == CLAUDE
    with pytest.raises(ConfigurationError, match="'uvx' is not called errcompact"):
        wrap_servers(CLAUDE, ".mcp.json", program="uvx")


def test_what_was_changed_meanwhile_stays_changed() -> None:
    """Only the proxy goes."""
    wrapped = json.loads(CLAUDE_WRAPPED)
    wrapped["mcpServers"]["files"]["args"].append("/srv")
    wrapped["mcpServers"]["new"] = {"command": "y"}
    done = unwrap_servers(json.dumps(wrapped, indent=4), ".mcp.json")
    servers = json.loads(done.text)["mcpServers"]
    original = json.loads(CLAUDE)["mcpServers"]
    assert servers["files"] == {**original["files"], "args": [*original["files"]["args"], "/srv"]}
    assert servers["issues"] == original["issues"]
    assert (servers["shop"], servers["new"]) == ({"command": "shop-server", "args": []}, {"command": "y"})
    assert (done.changed, done.left) == (("files", "shop", "issues"), ())


@pytest.mark.parametrize("arguments", [["mcp"], ["mcp", "--"], ["mcp", "--url"], ["mcp", "wrap", "x"]])
def test_what_was_changed_by_hand_is_left(arguments: list[str]) -> None:
    """There is no server that could be given back."""
    text = json.dumps({"mcpServers": {"a": {"command": "errcompact", "args": arguments}}})
    done = unwrap_servers(text, ".mcp.json")
    assert done.text == text
    assert done.left == (("a", "it was changed by hand; take 'errcompact mcp' out of its command"),)


def test_a_file_in_toml_is_left_to_its_client() -> None:
    """Which has a command of its own for that."""
    with pytest.raises(ConfigurationError, match=r"is TOML.*: codex mcp add NAME -- errcompact mcp -- COMMAND"):
        wrap_servers('[mcp_servers.a]\ncommand = "x"\n', "config.toml")


def test_what_is_no_settings_file() -> None:
    """Says where the fault is."""
    with pytest.raises(ConfigurationError, match=r"a.json is no JSON: .*line 1, column"):
        wrap_servers("{", "a.json")


def test_headers_come_out_of_the_environment() -> None:
    """As the variables that `wrap` makes of them."""
    assert read_headers({"ERRCOMPACT_HEADER_X-Team": "shop", "PATH": "/bin"}) == {"X-Team": "shop"}


WORDS: Any = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=6)
COMMANDS: Any = st.fixed_dictionaries(
    {"command": WORDS},
    optional={"args": st.lists(WORDS, max_size=3), "type": st.just("stdio"), "env": st.just({"A": "b"})},
)
ADDRESSES: Any = st.fixed_dictionaries(
    {"url": WORDS},
    optional={"type": st.sampled_from(["http", "sse"]), "headers": st.dictionaries(WORDS, WORDS, max_size=2)},
)
SERVERS: Any = st.dictionaries(WORDS, COMMANDS | ADDRESSES, min_size=1, max_size=3)


@given(SERVERS, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_every_file_is_given_back(servers: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    """However it is written; and what is wrapped is what a client would start."""
    text = json.dumps({"mcpServers": servers}, indent=indent, ensure_ascii=ascii_only)
    done = wrap_servers(text, ".mcp.json")
    for name, server in json.loads(done.text)["mcpServers"].items():
        if name in done.changed and "command" in servers[name]:
            assert server["args"] == ["mcp", "--", servers[name]["command"], *servers[name].get("args", [])]
    assert unwrap_servers(done.text, ".mcp.json").text == text
