"""What npm, pnpm and Yarn say; the short samples follow their documentation, the corpus holds recorded ones."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_as, format_of, key

facts = facts_as("npm")


CONFLICT = """\
npm ERR! code ERESOLVE
npm ERR! ERESOLVE could not resolve
npm ERR!
npm ERR! While resolving: shop@1.4.0
npm ERR! Found: react@18.2.0
npm ERR! node_modules/react
npm ERR!   react@"18.2.0" from the root project
npm ERR!
npm ERR! Could not resolve dependency:
npm ERR! peer react@"^17.0.2" from react-dom@17.0.2
npm ERR! node_modules/react-dom
npm ERR!
npm ERR! Conflicting peer dependency: react@17.0.2
npm ERR! For a full report see:
npm ERR! /home/dev/.npm/_logs/2026-11-22T01_20_27_049Z-eresolve-report.txt
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'npm error Missing script: "biuld"\nnpm error\nnpm error Did you mean this?\n'
            'npm error   npm run build # run the "build" package script\nnpm error\n',
            ("MissingScript", 'Missing script: "biuld"', ('npm run build # run the "build" package script',)),
            id="missing script",
        ),
        pytest.param(
            CONFLICT,
            (
                "ERESOLVE",
                'peer react@"^17.0.2" from react-dom@17.0.2 conflicts with react@18.2.0',
                ('react@"18.2.0" from the root project', "while resolving: shop@1.4.0"),
            ),
            id="conflict",
        ),
        pytest.param(
            "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\n",
            ("ERESOLVE", "could not resolve", ()),
            id="conflict that is cut off",
        ),
        pytest.param(
            "npm ERR! code E401\nnpm ERR! Incorrect or missing password.\nnpm ERR! If you still need help, ask.\n",
            ("E401", "Incorrect or missing password.", ()),
            id="sentence",
        ),
        pytest.param(
            "npm ERR! code EACCES\nnpm ERR! syscall mkdir\nnpm ERR! path /usr/lib/node_modules/a\nnpm ERR! errno -13\n",
            ("EACCES", "mkdir /usr/lib/node_modules/a", ()),
            id="fields alone",
        ),
        pytest.param("npm ERR! code EIO\n", ("EIO", "EIO", ()), id="code alone"),
        pytest.param("npm ERR! cb() never called!\n", ("NpmError", "cb() never called!", ()), id="no code"),
        pytest.param(
            "npm error code EBADENGINE\nnpm error engine Unsupported engine\n"
            'npm error notsup Required: {"node":">=99"}\n',
            ("EBADENGINE", 'Required: {"node":">=99"}', ()),
            id="engine",
        ),
        pytest.param(
            "npm error code EUSAGE\nnpm error\nnpm error The `npm ci` command can only install with an existing "
            "lock file or\n"
            "npm error with another one.\nnpm error Usage:\nnpm error npm ci\n",
            ("EUSAGE", "The `npm ci` command can only install with an existing lock file or with another one.", ()),
            id="usage",
        ),
        pytest.param(
            "> shop@1.0.0 build\n> tsc && vite\n\nsh: 1: tsc: not found\nnpm ERR! code 127\nnpm ERR! path /srv/shop\n"
            "npm ERR! command failed\nnpm ERR! command sh -c tsc && vite\n",
            ("CommandNotFound", "tsc: command not found", ("script `build`: exit code 127: tsc && vite in /srv/shop",)),
            id="script whose program is missing",
        ),
        pytest.param(
            "> shop@1.0.0 build\n> node build.js\n\nbuilding 14 files\nschema.graphql: stale\nnpm ERR! code 3\n"
            "npm ERR! command failed\nnpm ERR! command sh -c node build.js\n",
            ("exit code 3", "schema.graphql: stale", ("script `build`: exit code 3: node build.js",)),
            id="script that says it in its own words",
        ),
        pytest.param(
            "npm ERR! code ELIFECYCLE\nnpm ERR! errno 2\nnpm ERR! shop@1.4.0 build: `tsup src`\n"
            "npm ERR! Exit status 2\n"
            "npm ERR! \nnpm ERR! Failed at the shop@1.4.0 build script.\n",
            ("exit status 2", "script failed: shop@1.4.0 build: `tsup src`", ()),
            id="script of an old npm",
        ),
        pytest.param(
            "npm ERR! code ELIFECYCLE\nnpm ERR! Failed at the shop@1.4.0 build script.\n",
            ("failed", "script failed:", ()),
            id="script, cut off",
        ),
        pytest.param(
            " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for left-pad@99\n\n"
            "This error happened while installing\n",
            (
                "ERR_PNPM_NO_MATCHING_VERSION",
                ("No matching version found for left-pad@99"),
                ("This error happened while installing",),
            ),
            id="pnpm",
        ),
        pytest.param(
            ' ERR_PNPM_NO_SCRIPT  Missing script: biuld\n\nCommand "biuld" not found. Did you mean "pnpm run build"?\n',
            (
                "MissingScript",
                'Missing script: "biuld"',
                (('Command "biuld" not found. Did you mean "pnpm run build"?'),),
            ),
            id="pnpm, missing script",
        ),
        pytest.param(
            "> api@1.0.0 build /srv/api\n> node build.js\n\nError: stale schema\n"
            " ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  api@1.0.0 build: `node build.js`\n",
            ("Error", "stale schema", ("script `build`: api@1.0.0 build: `node build.js`",)),
            id="pnpm, recursive",
        ),
        pytest.param(
            " ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  api@1.0.0 build: `node build.js`\n",
            ("ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL", "api@1.0.0 build: `node build.js`", ()),
            id="pnpm, recursive, cut off",
        ),
        pytest.param(
            " ELIFECYCLE  Command failed with exit code 3.\n",
            ("exit code 3", "Command failed with exit code 3", ()),
            id="pnpm, script, cut off",
        ),
        pytest.param(" ELIFECYCLE  Command failed.\n", ("ELIFECYCLE", "Command failed", ()), id="pnpm, no status"),
        pytest.param(
            'yarn run v1.22.22\nerror Command "biuld" not found. Did you mean "build"?\n'
            "info Visit https://yarnpkg.com/en/docs\n",
            ("MissingScript", 'Missing script: "biuld"', ()),
            id="Yarn, missing script",
        ),
        pytest.param(
            "yarn run v1.22.22\n$ node build.js\nError: stale\nerror Command failed with exit code 3.\n"
            "info Visit https://yarnpkg.com/x\n",
            ("Error", "stale", ("Command failed with exit code 3",)),
            id="Yarn, script",
        ),
        pytest.param(
            "error Command failed with exit code 3.\ninfo Visit https://yarnpkg.com/x\n",
            ("exit code 3", "Command failed with exit code 3.", ()),
            id="Yarn, script, cut off",
        ),
        pytest.param(
            'yarn install v1.22.22\nerror Couldn\'t find package "left-padd".\ninfo Visit https://yarnpkg.com/x\n',
            ("YarnError", 'Couldn\'t find package "left-padd".', ()),
            id="Yarn, package",
        ),
        pytest.param(
            "\u27a4 YN0000: \u250c Resolution step\n\u27a4 YN0035: \u2502 left-pad@npm:^99: Package not found\n"
            "\u27a4 YN0035: \u2502   Response Code: 404\n\u27a4 YN0000: Failed with errors in 1s",
            ("YN0035", "left-pad@npm:^99: Package not found", ("Response Code: 404",)),
            id="Yarn of today",
        ),
        pytest.param(
            'Usage Error: Couldn\'t find a script named "biuld".\n\n$ yarn run\n',
            ("MissingScript", 'Couldn\'t find a script named "biuld".', ()),
            id="Yarn of today, missing script",
        ),
        pytest.param(
            "Usage Error: The nearest package directory is not part of the project\n",
            ("UsageError", "The nearest package directory is not part of the project", ()),
            id="Yarn of today, usage",
        ),
    ],
)
def test_forms(text, expected):
    """The cause is a sentence; logs, reports, usage and advice are left out."""
    found = facts(text)
    assert (found.type, found.cause, found.details) == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        pytest.param(CONFLICT.replace("2026-11-22T01_20_27_049Z", "2026-12-24T08_00_00_001Z"), True, id="other log"),
        pytest.param(CONFLICT.replace("npm ERR!", "npm error"), True, id="other npm"),
        pytest.param(CONFLICT.replace("react-dom", "react-query"), False, id="other package"),
    ],
)
def test_key(text, same):
    """The packages make the key, the log files do not."""
    assert (key(text) == key(CONFLICT)) is same


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("an npm error is printed like this", id="prose"),
        pytest.param("see https://yarnpkg.com/docs", id="an address"),
        pytest.param("ERR_PNPM_ codes are listed in the manual; ELIFECYCLE too", id="a list of codes"),
        pytest.param("\u27a4 YN0000: \u2514 Completed", id="Yarn, all well"),
        pytest.param("a Usage Error: no", id="another tool's usage"),
        pytest.param("Usage Error: unknown option", id="yet another tool's usage"),
    ],
)
def test_not_taken(text):
    """Texts that only look alike are left to others."""
    assert format_of(text) != "npm"


def test_a_conflict_of_peers_names_both_ranges():
    """A range may have blanks; without it nobody knows which version would do."""
    found = facts(
        "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n"
        "npm error While resolving: shop@1.0.0\nnpm error Found: react@18.2.0\nnpm error node_modules/react\n"
        'npm error   react@"^18.2.0" from the root project\nnpm error\nnpm error Could not resolve dependency:\n'
        'npm error peer react@"^16.8.0 || ^17.0.0" from react-table@7.8.0\nnpm error node_modules/react-table\n'
        'npm error   react-table@"^7.8.0" from the root project'
    )
    assert found.cause == 'peer react@"^16.8.0 || ^17.0.0" from react-table@7.8.0 conflicts with react@18.2.0'
    assert 'react@"^18.2.0" from the root project' in found.details
