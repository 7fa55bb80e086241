"""Shell knowledge as tables: wrappers, subcommands, options with a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE: Final = frozenset[str]()

SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
INTERPRETERS: Final = frozenset({"node", "ruby", "perl", "php", "ts-node", "tsx", "Rscript", "julia", "lua", "java"})
KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done"})
CHANGING_FOLDER: Final = frozenset({"cd", "pushd"})

PREPARING: Final = CHANGING_FOLDER | {
    "popd", "export", "unset", "umask", "ulimit", "exit", "trap", "shopt",
    "source", ".", "set", "echo", "printf", "true", "sleep", "for", "[", "[[",
}  # fmt: skip
"""Commands that prepare another one, or only announce it."""

AUXILIARY: Final = frozenset(
    {
        "cat", "chmod", "chown", "clear", "cp", "date", "find", "git add", "git diff", "git log", "git stash",
        "git status", "grep", "head", "kill", "ln", "ls", "mkdir", "mv", "pkill", "pwd", "rg", "rm", "sed", "tail",
        "tee", "touch", "type", "wait", "wc", "which", "whoami",
    }
)  # fmt: skip
"""Programs that only help where a command line runs others as well."""

WRAPPERS: Final = {
    "sudo": frozenset({"-u", "-g"}),
    "env": frozenset({"-u", "-C"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n"}),
    "nohup": frozenset[str](),
    "command": frozenset[str](),
    "exec": frozenset({"-a"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d"}),
    "npx": frozenset({"-p", "--package"}),
    "bunx": frozenset[str](),
    "uvx": frozenset({"--from", "--with"}),
    "xvfb-run": frozenset({"-s"}),
}
"""Programs that run another one, with those of their options that take a value."""

CARRIERS: Final = {
    "ssh": frozenset({"-i", "-p", "-o", "-l", "-F", "-J", "-L", "-R", "-b", "-c", "-D", "-E"}),
    "kubectl exec": frozenset({"-c", "-n", "--container", "--namespace"}),
    **dict.fromkeys(
        ("docker exec", "docker compose exec", "docker-compose exec"),
        frozenset({"-e", "-w", "-u", "--env", "--workdir", "--user"}),
    ),
}
"""Programs that run another one elsewhere, named behind the host or the container, with options as above."""

LAUNCHERS: Final = frozenset(
    {
        "uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "pixi run", "bundle exec",
        "pnpm exec", "pnpm dlx", "yarn dlx", "npm exec", "mise exec", "mise x", "conda run", "mamba run",
    }
)  # fmt: skip
"""As wrappers, with a subcommand."""

LAUNCHER_OPTIONS: Final = frozenset(
    {"--with", "--extra", "--group", "--python", "-p", "-e", "-n", "--directory", "--project", "--env-file"}
)

WITH_SUBCOMMAND: Final = frozenset(
    {
        "alembic", "ansible", "apt", "apt-get", "asdf", "aws", "az", "bazel", "brew", "buf", "buildah", "bun",
        "bundle", "cabal", "cargo", "composer", "conda", "dagger", "dart", "dbt", "deno", "dnf", "docker",
        "docker-compose", "doit", "dotnet", "dune", "flask", "flutter", "gcloud", "gem", "gh", "git", "glab", "gmake",
        "go", "gradle", "gradlew", "grunt", "gulp", "hatch", "helm", "hg", "inv", "invoke", "jj", "just", "kubectl",
        "lage", "lein", "lerna", "make", "mamba", "mise", "mix", "moon", "mvn", "mvnw", "ng", "nix", "npm", "nx",
        "opam", "pants", "pdm", "pip", "pip3", "pipenv", "pipx", "pixi", "pnpm", "podman", "poe", "poetry",
        "pre-commit", "prisma", "pulumi", "rails", "rake", "rush", "rustup", "sbt", "stack", "supabase", "svn",
        "swift", "systemctl", "task", "terraform", "tofu", "turbo", "uv", "vagrant", "yarn", "yum", "zig",
    }
)  # fmt: skip

WITH_TWO_SUBCOMMANDS: Final = frozenset(
    {
        "npm run", "pnpm run", "yarn run", "bun run", "npm run-script", "docker compose", "podman compose",
        "docker buildx", "docker image", "docker container", "docker volume", "docker network", "git remote",
        "git stash", "git submodule", "git worktree", "git lfs", "git bisect", "uv pip", "uv tool", "go mod", "go tool",
        "gh pr", "gh issue", "gh run", "gh repo", "gh release", "gh workflow", "glab mr", "glab issue", "aws s3",
        "aws s3api", "aws ec2", "aws lambda", "aws iam", "aws dynamodb", "helm repo", "mise run", "mise r", "turbo run",
        "lerna run", "nx run", "moon run", "deno task", "rush run", "pixi run", "cargo xtask", "composer run",
        "composer run-script", "rails db", "kubectl rollout", "kubectl config", "terraform state",
        "terraform workspace", "poetry env", "conda env", "hatch env", "pre-commit run", "bazel run",
    }
)  # fmt: skip

WITH_ONE_OF: Final = {
    "ruff": frozenset({"check", "format"}),
    "vitest": frozenset({"run", "watch", "bench", "typecheck", "related"}),
    "playwright": frozenset({"test", "install", "codegen", "show-report"}),
    "cypress": frozenset({"run", "open", "verify", "install"}),
    "biome": frozenset({"check", "lint", "format", "ci"}),
    "next": frozenset({"build", "dev", "lint", "start"}),
    "vite": frozenset({"build", "dev", "preview"}),
    "golangci-lint": frozenset({"run", "fmt"}),
    "coverage": frozenset({"run", "report", "html", "xml", "combine", "erase"}),
    "tox": frozenset({"run", "r", "run-parallel", "p", "list", "config"}),
    "django-admin": frozenset({"test", "migrate", "makemigrations", "check", "startapp", "startproject"}),
}
"""Programs with these subcommands alone: other words are files and names."""

TASK_OPTIONS: Final = {"tox": frozenset({"-e"}), "nox": frozenset({"-s", "--session", "-e", "--sessions"})}
"""Options of task runners that name the task."""

COMMON_SUBCOMMANDS: Final = frozenset(
    {
        "add", "apply", "audit", "bench", "build", "bundle", "check", "checkout", "ci", "clean", "clippy", "clone",
        "commit", "compile", "config", "coverage", "create", "delete", "deploy", "describe", "dev", "diff", "doc",
        "docs", "down", "e2e", "exec", "fetch", "fix", "fmt", "format", "generate", "get", "info", "init", "install",
        "lint", "list", "log", "logs", "ls", "merge", "migrate", "outdated", "package", "plan", "ps", "publish", "pull",
        "push", "rebase", "release", "remove", "reset", "restart", "run", "run-script", "serve", "show", "start",
        "stash", "status", "stop", "sync", "test", "tests", "typecheck", "unit", "up", "update", "upgrade", "validate",
        "verify", "watch",
    }
)  # fmt: skip
"""Words that are subcommands wherever they stand: an option before them has no value."""

FLAGS: Final = frozenset(
    {
        "--all", "--color", "--debug", "--dry-run", "--force", "--frozen", "--help", "--if-present", "--json",
        "--locked", "--offline", "--parallel", "--quiet", "--recursive", "--release", "--silent", "--verbose",
        "--version", "--watch", "--workspaces", "--yes",
    }
)  # fmt: skip
"""Long options that take no value, whatever the program."""

OPTIONS_WITH_VALUE: Final = frozenset(
    {
        "-C", "-c", "-f", "-n", "-H", "-j", "--prefix", "--directory", "--project", "--namespace", "--context",
        "--git-dir", "--work-tree", "--manifest-path", "--file", "--cwd", "--profile", "--region", "--dir", "--chdir",
    }
)  # fmt: skip

FOLDER_OPTIONS: Final = frozenset({"-C", "--prefix", "--directory", "--cwd", "--work-tree", "--chdir", "--dir"})
"""Options that name the folder of a program."""

SCOPING_OPTIONS: Final = frozenset(
    {
        "--context", "--exclude-task", "--file", "--filter", "--git-dir", "--grep", "--manifest-path", "--namespace",
        "--only", "--package", "--profile", "--project", "--projects", "--region", "--scope", "--selector", "--spec",
        "--suite", "--target", "--test-name-pattern", "--testNamePattern", "--testPathPattern", "--tests",
        "--workspace",
    }
)  # fmt: skip
"""Long options that name or narrow a target, whatever the program."""

TEXT_OPTIONS: Final = frozenset(
    {
        "-H", "--header", "--message", "--title", "--body", "--description", "--notes", "--data", "--data-raw",
        "--data-binary", "--user-agent", "--format", "--output", "--template", "--jsonpath", "--query", "--sort",
        "--limit", "--tail", "--since", "--jobs", "--author", "--date", "--color", "--reporter", "--log-level",
        "--token", "--password", "--request", "--method",
    }
)  # fmt: skip
"""Options whose value is text, a form or a number, not a target."""

SCOPING_LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "npm": frozenset({"-w"}),
    "pnpm": frozenset({"-F"}),
    "kubectl": frozenset({"-n", "-f", "-l", "-c"}),
    "helm": frozenset({"-n", "-f"}),
    "docker": frozenset({"-f", "-p"}),
    "podman": frozenset({"-f", "-p"}),
    "docker-compose": frozenset({"-f", "-p"}),
    "make": frozenset({"-f"}),
    "gmake": frozenset({"-f"}),
    "mvn": frozenset({"-f", "-pl", "-P"}),
    "mvnw": frozenset({"-f", "-pl", "-P"}),
    "gradle": frozenset({"-p", "-x"}),
    "gradlew": frozenset({"-p", "-x"}),
    "cargo": frozenset({"-p"}),
    "gh": frozenset({"-R"}),
    "terraform": frozenset[str](),
    "psql": frozenset({"-d", "-h", "-f"}),
    "mysql": frozenset({"-h"}),
    "jest": frozenset({"-t"}),
    "vitest": frozenset({"-t"}),
    "mocha": frozenset({"-g", "-f"}),
    "playwright": frozenset({"-g"}),
    "rspec": frozenset({"-e", "-t"}),
    "ctest": frozenset({"-R", "-E", "-L"}),
    "tsc": frozenset({"-p"}),
    "turbo": frozenset({"-F"}),
    "nx": frozenset({"-p", "-t"}),
    "task": frozenset({"-t", "-d"}),
    "just": frozenset({"-f", "-d"}),
    "ansible-playbook": frozenset({"-i", "-l"}),
    "hatch": frozenset({"-e"}),
    "python -m unittest": frozenset({"-k"}),
}
"""Options of one letter that name a target, by program."""

TEXT_LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "git": frozenset({"-c", "-n", "-m"}),
    "hg": frozenset({"-m"}),
    "curl": frozenset({"-X", "-d", "-A", "-b", "-u", "-o", "-w", "-m", "-e", "-F"}),
    "wget": frozenset({"-O", "-U", "-T", "-t"}),
    "gh": frozenset({"-b", "-t", "-m", "-f", "-F", "-X", "-q", "-L"}),
    "make": frozenset({"-j", "-l"}),
    "gmake": frozenset({"-j", "-l"}),
    "cargo": frozenset({"-j", "-F"}),
    "kubectl": frozenset({"-o"}),
    "helm": frozenset({"-o"}),
    "docker": frozenset({"-e", "-H"}),
    "psql": frozenset({"-U", "-p"}),
    "mysql": frozenset({"-u", "-p"}),
    "head": frozenset({"-n", "-c"}),
    "tail": frozenset({"-n", "-c"}),
    "grep": frozenset({"-A", "-B", "-C", "-m", "-e"}),
    "rg": frozenset({"-A", "-B", "-C", "-m", "-e", "-t", "-g"}),
    "sed": frozenset({"-e"}),
    "awk": frozenset({"-F", "-v"}),
    "jq": frozenset({"--arg"}),
    "tox": frozenset({"-p"}),
    "nox": frozenset({"-p"}),
}
"""Options of one letter whose value is no target, by program."""

WITH_SCRIPT: Final = frozenset({"sed", "awk", "grep", "egrep", "fgrep", "rg", "ag", "ack", "jq", "yq"})
"""Programs whose first word is a pattern or a script, not a target."""
