"""What CMake says while it configures."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("lines", "location", "cause"),
    [
        pytest.param(
            ("CMake Error at CMakeLists.txt:8 (message):", "  Set TOOL to the path of", "  the generator"),
            "message (CMakeLists.txt:8)",
            "Set TOOL to the path of the generator",
            id="paragraph",
        ),
        pytest.param(
            ("CMake Error: Could not find CMAKE_ROOT !!!",), "", "Could not find CMAKE_ROOT !!!", id="without a place"
        ),
        pytest.param(
            ("CMake Error in src/CMakeLists.txt:", '  Target "shop" contains relative path'),
            "src/CMakeLists.txt",
            'Target "shop" contains relative path',
            id="in a file",
        ),
        pytest.param(
            ("CMake Error at CMakeLists.txt:8 (message):",), "message (CMakeLists.txt:8)", "no message", id="cut off"
        ),
        pytest.param(
            ("CMake Error at CMakeLists.txt:8 (find_package):", '  By not providing "FindX.cmake"'),
            "find_package (CMakeLists.txt:8)",
            'By not providing "FindX.cmake"',
            id="boilerplate alone",
        ),
        pytest.param(
            (
                "CMake Error at /usr/share/cmake-3.31/Modules/FindX.cmake:3 (message):",
                "  Could NOT find X",
                "Call Stack (most recent call first):",
                "  /usr/share/cmake-3.31/Modules/FindY.cmake:9 (find_package)",
                "  cmake/deps.cmake:2 (find_package)",
                "  CMakeLists.txt:5 (include)",
            ),
            "find_package (cmake/deps.cmake:2)",
            "Could NOT find X",
            id="module of CMake",
        ),
        pytest.param(
            ("CMake Error at /usr/share/cmake-3.31/Modules/FindX.cmake:3 (message):", "  Could NOT find X"),
            "message (/usr/share/cmake-3.31/Modules/FindX.cmake:3)",
            "Could NOT find X",
            id="module of CMake, cut off",
        ),
        pytest.param(
            ('  "X_DIR" to a folder', "", "-- Configuring incomplete, errors occurred!"),
            "",
            'Configuring incomplete: "X_DIR" to a folder',
            id="head cut off",
        ),
        pytest.param(
            ("-- Found A", "-- Configuring incomplete, errors occurred!"),
            "",
            "Configuring incomplete, errors occurred",
            id="nothing but the end",
        ),
    ],
)
def test_facts(lines, location, cause):
    """The first error is the cause, at the innermost place in the project."""
    found = facts(*lines)
    assert (found.format, found.type, str(found.location), found.cause) == ("cmake", "CMakeError", location, cause)


def test_callers_are_details():
    """What called the function that gave up is shown, as far as it belongs to the project."""
    found = facts(
        "CMake Error at cmake/a.cmake:3 (message):",
        "  no tool",
        "",
        "  Install it with apt.",
        "Call Stack (most recent call first):",
        "  CMakeLists.txt:5 (require)",
    )
    assert found.details == ("Install it with apt.", "called from require (CMakeLists.txt:5)")


def test_warnings_are_no_errors():
    """A warning of CMake is not read as an error."""
    assert facts("CMake Warning at CMakeLists.txt:3 (message):", "  no docs", "CMake Error was fixed").format != "cmake"


def test_key():
    """The key follows the package that is missing, and not the line."""
    text = "CMake Error at CMakeLists.txt:{} (find_package):\n  Could not find {}"
    first = key(text.format(3, "A"))
    assert first == key(text.format(30, "A"))
    assert first != key(text.format(3, "B"))
