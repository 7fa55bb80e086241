"""What TeX says of a document that it cannot typeset: excerpts of real runs, with the paths shortened."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_as, format_of, key, said

facts = facts_as("latex")

BEGINNING = """\
This is pdfTeX, Version 3.141592653-2.6-1.40.24 (TeX Live 2022/Debian) (preloaded format=pdflatex)
 restricted \\write18 enabled.
entering extended mode
(./report.tex
LaTeX2e <2022-11-01> patch level 1
(/usr/share/texlive/texmf-dist/tex/latex/base/article.cls
Document Class: article 2022/07/02 v1.4n Standard LaTeX document class
(/usr/share/texlive/texmf-dist/tex/latex/base/size10.clo))
(/usr/share/texlive/texmf-dist/tex/latex/l3backend/l3backend-p
dftex.def)
"""
BEGUN = f"{BEGINNING}No file report.aux.\n"
HELP = """
See the LaTeX manual or LaTeX Companion for explanation.
Type  H <return>  for immediate help.
 ...                                              
                                                  
"""  # noqa: W291, W293 - so TeX prints it
STOPPED = "!  ==> Fatal error occurred, no output PDF file produced!\nTranscript written on report.log."
PICTURE = f"{BEGUN}\n! LaTeX Error: File `media/plot' not found.\n{HELP}l.7 \\includegraphics{{media/plot}}\n{STOPPED}"
UNDEFINED = f"! Undefined control sequence.\nl.3 Hello \\totl\n                 world.\n{STOPPED}"
MISSING = """
! LaTeX Error: File `tikzz.sty' not found.

Type X to quit or <RETURN> to proceed,
or enter new name. (Default extension: sty)

Enter file name: 
! Emergency stop.
<read *> 
         
l.3 \\begin
          {document}^^M
"""  # noqa: W291, W293


@pytest.mark.parametrize(
    ("text", "expected", "details"),
    [
        pytest.param(
            PICTURE,
            ("LaTeXError", "report.tex:7", "File `media/plot' not found."),
            ("l.7 \\includegraphics{media/plot}",),
            id="picture",
        ),
        pytest.param(
            BEGUN + UNDEFINED,
            ("TeXError", "report.tex:3", "Undefined control sequence: \\totl"),
            ("l.3 Hello \\totl",),
            id="command",
        ),
        pytest.param(
            f"{BEGUN}! Undefined control sequence.\n\\total ->\\sun \n            \nl.9 \\total\n",
            ("TeXError", "report.tex:9", "Undefined control sequence: \\sun"),
            ("l.9 \\total",),
            id="command in a command",
        ),
        pytest.param(
            f"{BEGINNING}{MISSING}{STOPPED}",
            ("LaTeXError", "", "File `tikzz.sty' not found."),
            ("l.3 \\begin",),
            id="package; before the document begins, the line may be that of any file",
        ),
        pytest.param(
            f"{BEGUN}(./chapters/one.tex\n! Double superscript.\nl.2 And $x^2^\n             3$.\n",
            ("TeXError", "", "Double superscript."),
            ("l.2 And $x^2^",),
            id="a second file; which of both it is, is not said",
        ),
        pytest.param(
            f"{BEGUN}(./one.tex\n./one.tex:2: Double superscript.\nl.2 And $x^2^\n             3$.\n",
            ("TeXError", "one.tex:2", "Double superscript."),
            ("l.2 And $x^2^",),
            id="a second file, with -file-line-error",
        ),
        pytest.param(
            "./report.tex:7: LaTeX Error: File `media/plot' not found.\n"
            f"{HELP}l.7 \\includegraphics{{media/plot}}\n./report.tex:7:  ==> Fatal error occurred, no output PDF file",
            ("LaTeXError", "report.tex:7", "File `media/plot' not found."),
            ("l.7 \\includegraphics{media/plot}",),
            id="the end alone",
        ),
        pytest.param(
            f"{BEGUN}! Package inputenc Error: Unicode character\n(inputenc)     not set up for use.\n{HELP}l.4 x\n",
            ("LaTeXError", "report.tex:4", "Package inputenc Error: Unicode character"),
            ("l.4 x",),
            id="package",
        ),
        pytest.param(
            f"{BEGUN})\n! Emergency stop.\n<*> report.tex\n\n{STOPPED}",
            ("TeXError", "", "Emergency stop."),
            (),
            id="no end",
        ),
        pytest.param(
            "entering extended mode\n! I can't find file `reprot'.\n<*> reprot\n\n(Press Enter to retry)\n"
            f"! Emergency stop.\n<*> reprot\n\n{STOPPED}",
            ("TeXError", "", "I can't find file `reprot'."),
            (),
            id="no such document",
        ),
        pytest.param(
            f"{BEGUN}!pdfTeX error: /usr/bin/pdftex (file tcrm1000): Font tcrm1000 at 600 abcdefghij\n"
            "found\n ==> Fatal error occurred, no output PDF file produced!",
            ("TeXError", "", "pdfTeX error: /usr/bin/pdftex (file tcrm1000): Font tcrm1000 at 600 abcdefghijfound"),
            (),
            id="font, in a line of 79 characters that goes on",
        ),
    ],
)
def test_forms(text, expected, details):
    """The message is the cause; the line of the document is told, and is a place where its file is sure."""
    found = facts(text)
    assert (said(found), found.details) == (expected, details)


def test_several_errors():
    """Each counts, and the stop that they bring about does not."""
    more = (
        f"{HELP}l.6 \\end{{enumerate}}\n! Missing $ inserted.\n<inserted text> \n                $\nl.7 a_\n      b\n"
    )
    found = facts(
        f"{BEGUN}! LaTeX Error: \\begin{{itemize}} on input line 4 ended by \\end{{enumerate}}.\n{more}{UNDEFINED}"
    )
    assert (found.tally, str(found.location)) == ("1 of 3 errors", "report.tex:6")
    assert found.details == (
        "l.6 \\end{enumerate}",
        "TeXError at report.tex:7: Missing $ inserted; l.7 a_",
        "TeXError at report.tex:3: Undefined control sequence: \\totl; l.3 Hello \\totl",
    )


def test_system_files_are_no_evidence():
    """Which files were read says nothing of the failure."""
    shown = [line for line, _ in facts(PICTURE).evidence]
    assert any("no output PDF" in line for line in shown)
    assert not any("texmf-dist" in line for line in shown)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f"{BEGUN}LaTeX Warning: Reference `a' on page 1 undefined on input line 4.\n[1] (./report.aux) )\n"
            "Output written on report.pdf (1 page, 4788 bytes).\nTranscript written on report.log.",
            id="a run with warnings",
        ),
        pytest.param("! Undefined control sequence.\nis what TeX says of a typing error\nl.73 of the text", id="notes"),
        pytest.param("2025-03-04 build: ! LaTeX Error: File `a' not found.\n\nl.7 x\n", id="a log that quotes it"),
        pytest.param(f"main.tex:3: Undefined thing.\n\nl.4 x\n{STOPPED[-32:]}", id="another line"),
        pytest.param("This is pdfTeX, Version 3.14\n! look here\nx\nl.x y", id="marks"),
    ],
)
def test_not_taken(text):
    """Without a message and the line that belongs to it a text is of others."""
    assert format_of(text) != "latex"


def test_keys():
    """Lines do not matter; what is missing does."""
    assert key(PICTURE) == key(PICTURE.replace("l.7 ", "l.9 "))
    assert key(PICTURE) != key(PICTURE.replace("media/plot", "media/map"))
    assert key(BEGUN + UNDEFINED) != key(BEGUN + UNDEFINED.replace("\\totl", "\\sun"))
