"""One file and one object for each tool, and the order in which their formats are tried."""

from __future__ import annotations

from typing import Final

ORDER: Final = (
    "harness",
    "pytest",
    "unittest",
    "phpunit",
    "jest",
    "mocha",
    "gotest",
    "cargotest",
    "junit",
    "exunit",
    "rspec",
    "testrunners",
    "nix",
    "supervisors",
    "pip",
    "ruby",
    "python",
    "ipython",
    "go",
    "gomod",
    "rust",
    "rich",
    "bundlers",
    "javascript",
    "jvm",
    "dotnet",
    "php",
    "dialyzer",
    "beam",
    "julia",
    "rustc",
    "eslint",
    "ruff",
    "compilers",
    "latex",
    "r",
    "maven",
    "npm",
    "cargo",
    "cmake",
    "make",
    "git",
    "docker",
    "infra",
    "apt",
    "database",
    "validation",
    "rpc",
    "llm",
    "http",
    "shell",
    "findings",
    "plain",
    "prose",
)
"""
All formats in the order in which they are tried; the last one takes any text.

A format that may hold the output of others stands before them: test runners before stacks, stacks before compilers,
compilers before the build tools that call them, and those before services and shells.
"""

WITHOUT_FORMAT: Final = ("posix", "powershell", "unread")
"""Tools of which only is known how they are called."""
