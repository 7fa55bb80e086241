"""Diagnostics in one line. The samples are self-written in the forms that the tools document and print."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_alone, key, said

facts = facts_alone("compilers")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "src/tax.c:9:17: error: 'count' undeclared (first use in this function)",
            ("CompileError", "src/tax.c:9", "'count' undeclared (first use in this function)"),
            id="gcc",
        ),
        pytest.param(
            "main.c:3:5: error: unused variable 'x' [-Werror,-Wunused-variable]",
            ("-Wunused-variable", "main.c:3", "unused variable 'x'"),
            id="clang -Werror",
        ),
        pytest.param(
            "main.c:3:5: warning: implicit declaration of function 'f' [-Wimplicit-function-declaration]",
            ("-Wimplicit-function-declaration", "main.c:3", "implicit declaration of function 'f'"),
            id="a warning that newer compilers take for an error",
        ),
        pytest.param(
            "C:\\src\\shop\\main.cpp(12,5): error C2065: 'total': undeclared identifier [C:\\src\\shop\\shop.vcxproj]",
            ("C2065", "C:\\src\\shop\\main.cpp:12", "'total': undeclared identifier"),
            id="msvc",
        ),
        pytest.param(
            "main.obj : error LNK2019: unresolved external symbol total referenced in function main",
            ("LNK2019", "main.obj", "unresolved external symbol total referenced in function main"),
            id="link.exe",
        ),
        pytest.param(
            "MSBUILD : error MSB1009: Project file does not exist.",
            ("MSB1009", "", "Project file does not exist."),
            id="msbuild",
        ),
        pytest.param(
            "app/(shop)/page.tsx(4,31): error TS2345: Argument of type 'string' is not assignable to 'number'.",
            ("TS2345", "app/(shop)/page.tsx:4", "Argument of type 'string' is not assignable to 'number'."),
            id="tsc, a folder in brackets",
        ),
        pytest.param(
            "src/a.ts:4:31 - error TS2339: Property 'b' does not exist on type 'A'.",
            ("TS2339", "src/a.ts:4", "Property 'b' does not exist on type 'A'."),
            id="tsc pretty",
        ),
        pytest.param(
            "e: file:///src/shop/Main.kt:3:13 Unresolved reference 'total'.",
            ("CompileError", "/src/shop/Main.kt:3", "Unresolved reference 'total'."),
            id="kotlinc of gradle",
        ),
        pytest.param(
            "e: /src/shop/Main.kt: (3, 13): Unresolved reference: total",
            ("CompileError", "/src/shop/Main.kt:3", "Unresolved reference: total"),
            id="kotlinc of old",
        ),
        pytest.param(
            "w: file:///src/Main.kt:1:1 unused\ne: file:///src/Main.kt:3:13 Unresolved reference 'total'.",
            ("CompileError", "/src/Main.kt:3", "Unresolved reference 'total'."),
            id="a warning of kotlinc is left out",
        ),
        pytest.param(
            "[error] /src/shop/Main.scala:3:10: not found: value total",
            ("CompileError", "/src/shop/Main.scala:3", "not found: value total"),
            id="sbt",
        ),
        pytest.param(
            "[error] -- [E006] Not Found Error: /src/Main.scala:3:10 ---------\n"
            "[error] 3 |  println(total)\n[error]   |          ^^^^^\n[error]   |          Not found: total\n",
            ("E006", "/src/Main.scala:3", "Not found: total"),
            id="scala 3",
        ),
        pytest.param(
            "-- Warning: /src/a.scala:1:2 ----\n1 |x\n  |^\n  |unused\n"
            "-- Error: /src/Main.scala:3:10 -----\n3 |  x\n  |  ^\n  |  No given instance\n\n1 error found -- Error",
            ("CompileError", "/src/Main.scala:3", "No given instance"),
            id="scala 3 without a code",
        ),
        pytest.param(
            "Main.hs:3:5: error: [GHC-88464]\n    Variable not in scope: total :: Int\n  |\n3 | x = total\n",
            ("CompileError", "Main.hs:3", "[GHC-88464] Variable not in scope: total :: Int"),
            id="ghc",
        ),
        pytest.param("Main.hs:3:5: error:", ("CompileError", "Main.hs:3", "no message"), id="cut behind the place"),
        pytest.param(
            "main.swift:3:7: error: cannot find 'total' in scope\n1 | import A\n3 | print(total)\n"
            "  |       `- error: cannot find 'total' in scope",
            ("CompileError", "main.swift:3", "cannot find 'total' in scope"),
            id="swiftc",
        ),
        pytest.param(
            "src/App.java:5: error: cannot find symbol\n        total();\n        ^\n"
            "  symbol:   method total()\n  location: class App\n1 error",
            ("CompileError", "src/App.java:5", "cannot find symbol; symbol: method total(); location: class App"),
            id="javac",
        ),
        pytest.param(
            "vet: ./main.go:6:2: undefined: total", ("CompileError", "./main.go:6", "undefined: total"), id="go vet"
        ),
        pytest.param(
            "Analyzing lib...\n\n  error - cart/view.dart:19:44 - The method 'pop' isn't defined.  - undefined_method\n"
            "warning - main.dart:3:8 - Unused import: 'dart:async'. - unused_import\n"
            "   info - main.dart:9:5 - Don't invoke 'print'. - avoid_print\n\n3 issues found.",
            ("undefined_method", "cart/view.dart:19", "The method 'pop' isn't defined."),
            id="dart analyze; written after published outputs",
        ),
        pytest.param(
            "Analyzing shop...\n\n   info \u2022 Use 'const' with it \u2022 lib/main.dart:21:14 \u2022 prefer_const\n"
            "  error \u2022 Undefined name 'totl' \u2022 lib/cart.dart:14:12 \u2022 undefined_identifier\n\n2 issues",
            ("undefined_identifier", "lib/cart.dart:14", "Undefined name 'totl'"),
            id="flutter analyze; written after published outputs",
        ),
        pytest.param(
            "Running Gradle task 'run'...\nlib/cart.dart:14:12: Error: Undefined name 'totl'.\n  return totl;\n"
            "         ^^^^\nTarget kernel_snapshot_program failed: Exception\n\nFAILURE: Build failed with an error\n"
            "* What went wrong:\nExecution failed for task ':app:compileFlutterBuildDebug'.\n"
            "> Process 'command '/opt/flutter'' finished with non-zero exit value 1",
            ("CompileError", "lib/cart.dart:14", "Undefined name 'totl'."),
            id="flutter build; written after published outputs",
        ),
        pytest.param(
            "note: Building targets\n/app/Shop.xcodeproj: error: No profiles for 'com.example.shop' were found: "
            "Xcode couldn't find any. (in target 'Shop' from project 'Shop')\n** ARCHIVE FAILED **",
            (
                "XcodeError",
                "/app/Shop.xcodeproj",
                "No profiles for 'com.example.shop' were found: Xcode couldn't find any.",
            ),
            id="xcodebuild; written after published outputs",
        ),
        pytest.param(
            'Check dependencies\nSigning for "ShopTests" requires a development team. Select a development team.\n'
            "Code signing is required for product type 'Unit Test Bundle' in SDK 'iOS 10.3'\n\n** BUILD FAILED **",
            ("XcodeError", "", 'Signing for "ShopTests" requires a development team. Select a development team.'),
            id="xcodebuild 9; written after published outputs",
        ),
        pytest.param(
            "ld: framework not found Payments\nclang: error: linker command failed with exit code 1 (use -v to see it)",
            ("LinkError", "", "framework not found Payments"),
            id="Apple's linker",
        ),
        pytest.param(
            "ld: library 'pay' not found\nclang: error: linker command failed with exit code 1 (use -v to see it)",
            ("LinkError", "", "library 'pay' not found"),
            id="Apple's newer linker",
        ),
        pytest.param(
            "main.go:10:2: ineffectual assignment to err (ineffassign)",
            ("ineffassign", "main.go:10", "ineffectual assignment to err"),
            id="golangci-lint",
        ),
        pytest.param(
            "main.go:10:2: undefined: total (typecheck)",
            ("CompileError", "main.go:10", "undefined: total"),
            id="typecheck",
        ),
        pytest.param(
            "main.go:4:2: no required module provides package a.b/c; to add it:\n\tgo get a.b/c",
            ("CompileError", "main.go:4", "no required module provides package a.b/c; to add it: go get a.b/c"),
            id="go build, the cure below",
        ),
        pytest.param(
            'shop/cart.py:9: error: Name "titl" is not defined  [name-defined]\nFound 1 error in 1 file',
            ("name-defined", "shop/cart.py:9", 'Name "titl" is not defined'),
            id="mypy",
        ),
        pytest.param(
            "shop/cart.py: error: Source file found twice under different module names",
            ("CompileError", "shop/cart.py", "Source file found twice under different module names"),
            id="mypy about a file",
        ),
        pytest.param(
            "shop/cart.py:9: error: something that no code follows\nmypy has more to say\n\nFound 1 error",
            ("CompileError", "shop/cart.py:9", "something that no code follows"),
            id="a message without a code",
        ),
        pytest.param(
            '/src/a.py\n  /src/a.py:7:16 - error: Type "None" is not assignable to type "int"\n'
            '\u00a0\u00a0\u00a0\u00a0"None" is not assignable to "int" (reportReturnType)\n1 error, 0 warnings',
            ("reportReturnType", "/src/a.py:7", 'Type "None" is not assignable to type "int"'),
            id="pyright",
        ),
        pytest.param(
            "app.py:8:4: W0702: No exception type(s) specified (bare-except)\n"
            "app.py:13:22: E0602: Undefined variable 'kee' (undefined-variable)",
            ("E0602", "app.py:13", "Undefined variable 'kee'"),
            id="pylint, the error first",
        ),
        pytest.param(
            "/usr/bin/ld: /tmp/cc1.o: in function `main':\nmain.c:(.text+0xf): undefined reference to `total'\n"
            "collect2: error: ld returned 1 exit status",
            ("LinkError", "main (main.c)", "undefined reference to `total'"),
            id="ld",
        ),
        pytest.param(
            "/usr/bin/ld: tax.o: in function `main':\n/src/tax.c:9:(.text+0xf): undefined reference to `rate'\n"
            "collect2: error: ld returned 1 exit status",
            ("LinkError", "main (/src/tax.c:9)", "undefined reference to `rate'"),
            id="ld, with line and section",
        ),
        pytest.param(
            "ld.lld: error: undefined symbol: total\n>>> referenced by main.c:5 (/src/main.c:5)\n"
            "clang: error: linker command failed with exit code 1 (use -v to see invocation)",
            ("LinkError", "main.c:5", "undefined symbol: total"),
            id="lld",
        ),
        pytest.param(
            "collect2: error: ld returned 1 exit status",
            ("CompileError", "", "ld returned 1 exit status"),
            id="only the consequence is left",
        ),
        pytest.param(
            "gcc: fatal error: no input files\ncompilation terminated.",
            ("CompileError", "", "no input files"),
            id="driver",
        ),
        pytest.param(
            "/usr/include/c++/12/bits/stl_algo.h:4820:18:   required from 'void std::sort(_It)'\n"
            "sort.cpp:10:14:   required from here\n"
            "/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'",
            ("CompileError", "sort.cpp:10", "no match for 'operator-'"),
            id="g++, the place that asked for a template",
        ),
        pytest.param(
            "/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'\n"
            "/usr/include/c++/12/a.h:1:2: note: in instantiation of function template 'a' requested here\n"
            "sort.cpp:10:14: note: in instantiation of function template 'b' requested here\n",
            ("CompileError", "sort.cpp:10", "no match for 'operator-'"),
            id="clang, the place that asked for a template",
        ),
        pytest.param(
            "a.c:1:2: warning: unused variable 'x' [-Wunused-variable]",
            ("-Wunused-variable", "a.c:1", "unused variable 'x'"),
            id="nothing but a warning",
        ),
        pytest.param(
            "a.sh:3:5: warning: Quote this to prevent word splitting. [SC2086]",
            ("SC2086", "a.sh:3", "Quote this to prevent word splitting."),
            id="shellcheck -f gcc",
        ),
    ],
)
def test_forms(text, expected):
    """Each tool's form gives its code, the place and the message."""
    assert said(facts(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "src/a.ts(6,9): error TS2322: Type 'A' is not assignable to type 'B'.\n  Types of 'x' are incompatible.\n"
            "    Type 'undefined' is not assignable to type 'string'.",
            ("Type 'undefined' is not assignable to type 'string'.", "Types of 'x' are incompatible."),
            id="of nested explanations the innermost is first",
        ),
        pytest.param(
            "./main.go:9:9: cannot use x as Store: wrong type for method Get\n\t\thave Get(string)\n\t\twant Get(int)",
            ("have Get(string); want Get(int)",),
            id="what go has and wants",
        ),
        pytest.param(
            "a.c:3:5: error: too many arguments to function 'push'\n    3 |  push(1, 2);\n      |  ^~~~\n"
            "a.c:1:6: note: declared here\nb.h:9:1: note: 'push' was declared here\n"
            "a.c:1:1: note: each undeclared identifier is reported only once\na.c:1:2: note: expected 'int' but x",
            ("note: 'push' was declared here at b.h:9", "note: expected 'int' but x", "> push(1, 2);"),
            id="notes that help, then the source line",
        ),
        pytest.param(
            "A.java:3: error: ';' expected\n    int a\n         ^\n1 error",
            ("> int a",),
            id="a source line without a number",
        ),
    ],
)
def test_details(text, expected):
    """Explanations, notes and the source line follow a single error."""
    found = facts(text)
    assert found.details == expected


def test_many():
    """Distinct errors are one line each, their explanations with them, and warnings are left out."""
    found = facts(
        "a.ts(1,2): error TS1005: ';' expected.\n"
        "a.ts(6,9): error TS2322: Type 'A' is not assignable to type 'B'.\n  Type 'A' has no 'x'.\n"
        "a.ts(9,9): warning TS6133: 'y' is unused.\n"
    )
    assert found.tally == "1 of 2 errors"
    assert found.details == ("TS2322 at a.ts:6: Type 'A' is not assignable to type 'B'; Type 'A' has no 'x'.",)


def test_cut_off():
    """Of errors that are no longer in the text at least the number is told."""
    found = facts('a.py:1: error: Name "x" is not defined  [name-defined]\nFound 3 errors in 1 file (checked 1 file)')
    assert (found.members, found.details) == (3, ("... 2 more by the tool's count",))


def test_glued_by_a_hook():
    """Line feeds that a script meant literally separate what several tools said."""
    found = facts(
        "Checks failed:\\n\\n[MYPY]\\na.py:1: error: No b  [attr-defined]\\nFound 1 error in 1 file\\n\\nFix it."
    )
    assert (found.type, str(found.location), found.cause) == ("attr-defined", "a.py:1", "No b")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("int main(void) { return error: 3; }\n// main.c has an error: none", id="source code"),
        pytest.param("2026-11-20 12:30:45: error: disk is full", id="a log record"),
        pytest.param("main.go:12: starting the server", id="a log record of go"),
        pytest.param("error: something went wrong", id="any program"),
        pytest.param("a.c:1:2: warning: unused\nValueError: no such order", id="a warning above what failed"),
        pytest.param("a.c:1:2: note: declared here\nerror: x", id="a note alone"),
        pytest.param("usage: tool [-h]\ntool: error: the following arguments are required: name", id="usage"),
    ],
)
def test_not_taken(text):
    """Texts that merely mention errors belong to others."""
    assert facts(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "/tmp/run_9f4e2cc5/main.c:14:31: error: 'count' undeclared",
            "/tmp/run_3057d6dd/main.c:22:9: error: 'count' undeclared",
            id="another folder and line",
        ),
    ],
)
def test_same_class(one, other):
    """Temporary folders and lines do not matter."""
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "a.c:1:1: error: 'count' undeclared", "a.c:1:1: error: 'total' undeclared", id="another identifier"
        ),
        pytest.param("a.ts(1,1): error TS2322: A.", "a.ts(1,1): error TS2345: A.", id="another code"),
        pytest.param("a.c:1:1: error: x undeclared", "b.c:1:1: error: x undeclared", id="another file"),
    ],
)
def test_another_class(one, other):
    """Codes, identifiers and files keep errors apart."""
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "::error title=compileall,file=src/cart.x,line=3,col=2::Unexpected token\n",
            ("compileall", "src/cart.x:3", "Unexpected token"),
            id="words of its own",
        ),
        pytest.param("::error ::src/a.c:3:5: error: 'x' undeclared\n", ("CompileError", "src/a.c:3", "'x' undeclared")),
        pytest.param("::error file=src/a.x,line=x::no code\n", ("error", "src/a.x", "no code"), id="no line"),
    ],
)
def test_annotations(text, expected):
    """An annotation for GitHub has its place in fields, or repeats the tool's own line."""
    assert said(facts(text)) == expected


def test_symbol_that_nobody_uses():
    """A linker's list without the user of a symbol still names the symbol."""
    text = (
        'Undefined symbols for architecture arm64:\n  "_total", referenced from:\n      initial-undefines\n'
        "ld: symbol(s) not found for architecture arm64\n"
    )
    assert said(facts(text)) == ("LinkError", "", "undefined symbol: _total")


def test_equal_findings_of_one_line_are_counted_each():
    """Their columns tell them apart; the very same place printed once more is the same finding."""
    one = "./calc.py:4:12: E231 missing whitespace after ','"
    text = f"{one}\n./calc.py:4:19: E231 missing whitespace after ','\n{one}\n./calc.py:7:1: E302 expected 2 lines\n"
    assert facts(text).tally == "2 of 3 errors"


def test_a_warning_beside_errors_is_told_as_one():
    """It counts for an error where only the linker stops, which knows nothing of the cause."""
    grave = "tax.c:9:3: warning: implicit declaration of function 'rate' [-Wimplicit-function-declaration]\n"
    note = "tax.c:2:5: note: expected 'int' but argument is of type 'char *'\n"
    found = facts(f"{grave}{note}tax.c:11:7: error: 'sum' undeclared\n")
    assert (found.cause, found.tally) == ("'sum' undeclared", "")
    assert found.details[-1].startswith("warning -Wimplicit-function-declaration at tax.c:9: implicit declaration")
    assert found.details[-1].endswith("expected 'int' but argument is of type 'char *'")
    plain = facts(f"{grave}tax.c:11:7: error: 'sum' undeclared\n")
    assert plain.details[-1].endswith("function 'rate'")
    linked = facts(f"{grave}/usr/bin/ld: tax.o: in function `main':\ntax.c:9: undefined reference to `rate'\n")
    assert linked.cause == "implicit declaration of function 'rate'"


def test_a_warning_that_stops_the_compiler_is_an_error():
    """Some compilers keep the word and name the option that makes it one."""
    text = "tax.c:9:3: warning: unused variable 'x' [-Werror=unused-variable]\ntax.c:11:7: error: 'sum' undeclared\n"
    assert facts(text).tally == "1 of 2 errors"
