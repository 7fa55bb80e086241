from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_errcompact_context.memory.archive import FolderArchive, MemoryArchive

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_context.memory.archive import Archive

ANY_TEXT = st.text(st.characters())
"""Lone surrogates, control characters and all."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an archive will be."""
    return tmp_path / "kept"


@pytest.fixture(params=["folder", "memory"])
def archive(request: pytest.FixtureRequest, folder: Path) -> Archive:
    """One archive of each kind."""
    return FolderArchive(folder) if request.param == "folder" else MemoryArchive()


@given(text=ANY_TEXT)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_text_comes_back_exactly(archive: Archive, text: str) -> None:
    """What is kept is what is read: line ends, control characters and lone surrogates as well."""
    assert archive.read(archive.keep(text)) == text


def test_two_halves_of_a_surrogate_pair_stay_two(archive: Archive) -> None:
    """No encoding joins what was apart."""
    assert archive.read(archive.keep("\ud83d\ude00")) == "\ud83d\ude00"


def test_the_same_text_is_kept_once(folder: Path) -> None:
    """A file's name is made of its content."""
    archive = FolderArchive(folder)
    assert archive.keep("the same") == archive.keep("the same")
    assert len(list(folder.iterdir())) == 1


def test_a_place_is_a_file_that_anything_can_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is absolute, and the file holds the text and nothing else."""
    monkeypatch.chdir(folder.parent)
    place = FolderArchive("kept").keep("Grüße\r\n")
    assert place == str(folder / os.path.basename(place))  # noqa: PTH119 - of a text
    assert (folder / place).read_bytes() == "Grüße\r\n".encode()


def test_only_the_user_can_read_what_is_kept(folder: Path) -> None:
    """Tool results hold secrets."""
    place = FolderArchive(folder).keep("secret")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o600  # noqa: PTH116 - of a text


def test_a_folder_may_be_kept_free_of_secrets(folder: Path) -> None:
    """Whoever must not store secrets gives up the whole of what was cut, and no more than the secrets of it."""
    archive = FolderArchive(folder, redacts=True)
    place = archive.keep("login with password=hunter2 failed")
    assert archive.read(place) == "login with password=[REDACTED:password] failed"


def test_a_folder_that_exists_keeps_its_mode(folder: Path) -> None:
    """Who may look into a folder of the user's is the user's to say."""
    folder.mkdir(mode=0o755)
    FolderArchive(folder).keep("secret")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_file_that_was_changed_is_not_taken_for_the_text(folder: Path) -> None:
    """What a model can open it can also overwrite."""
    archive = FolderArchive(folder)
    place = archive.keep("what the tool said")
    (folder / place).write_text("what somebody wrote")
    with pytest.raises(OSError, match=r"txt was changed after it was kept"):
        archive.read(place)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.write_text("as long as it"), id="changed"),
        pytest.param(lambda file: file.write_text(""), id="emptied"),
        pytest.param(lambda file: file.unlink(), id="deleted"),
    ],
)
def test_what_is_kept_again_is_whole_again(folder: Path, spoil) -> None:
    """Nobody is told that a text is kept where something else lies."""
    archive = FolderArchive(folder)
    place = archive.keep("as long as IT")
    spoil(folder / place)
    assert archive.keep("as long as IT") == place
    assert archive.read(place) == "as long as IT"


def test_a_link_in_the_place_of_a_text_is_no_text(folder: Path) -> None:
    """Whatever it leads to, and though it is as long: the text is kept again, as a file."""
    archive = FolderArchive(folder)
    place = folder / archive.keep("as long as it")
    (folder / "thirteen-long").write_text("as long as it")
    place.unlink()
    place.symlink_to("thirteen-long")
    assert archive.keep("as long as it") == str(place)
    assert not place.is_symlink()
    assert archive.read(str(place)) == "as long as it"


def test_a_folder_that_was_deleted_is_made_again(folder: Path) -> None:
    """Whoever tidies up while an agent works costs it nothing but what was kept before."""
    archive = FolderArchive(folder)
    os.unlink(archive.keep("one"))  # noqa: PTH108 - of a text
    folder.rmdir()
    assert archive.read(archive.keep("two")) == "two"


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("/etc/passwd", id="elsewhere"),
        pytest.param("{folder}/../secret.txt", id="upwards"),
        pytest.param("{folder}/notes.txt", id="no name of ours"),
        pytest.param("{folder}/sub/00000000000000000000000000000000.txt", id="a folder below"),
        pytest.param("00000000000000000000000000000000.txt", id="relative"),
        pytest.param("{folder}/00000000000000000000000000000000.txt\0", id="with a NUL"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_place_outside_the_folder_is_refused(folder: Path, place: str) -> None:
    """A model that is made to ask for a file gets none but those that were cut."""
    archive = FolderArchive(folder)
    archive.keep("something")
    with pytest.raises(PermissionError, match=r"is no place in "):
        archive.read(place.format(folder=folder))


def test_a_link_does_not_lead_out_of_the_folder(folder: Path) -> None:
    """A name of the right form is not enough."""
    archive = FolderArchive(folder)
    archive.keep("something")
    secret = folder.parent / "secret"
    secret.write_text("secret")
    link = folder / f"{'0' * 32}.txt"
    link.symlink_to(secret)
    with pytest.raises(OSError, match=r"cannot read .*/kept/0{32}\.txt"):
        archive.read(str(link))


def test_a_place_where_nothing_is_kept_is_an_error(archive: Archive, folder: Path) -> None:
    """An empty text would be taken for what was there."""
    with pytest.raises(FileNotFoundError):
        archive.read(str(folder / f"{'0' * 32}.txt"))


def test_what_stands_in_the_way_of_the_folder_is_named(folder: Path) -> None:
    """The text says what was wanted, where, and what the system said."""
    folder.write_text("a file")
    with pytest.raises(FileExistsError, match=rf"cannot keep 9 bytes in {folder}: File exists"):
        FolderArchive(folder).keep("something")


@pytest.mark.parametrize("name", [pytest.param("a\nb", id="two lines"), pytest.param("a\udcff", id="no UTF-8")])
def test_a_folder_that_no_prompt_can_name_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Its path would break the marker's line, or the request that carries it."""
    with pytest.raises(
        ValueError, match=r"cannot be named in a prompt; choose a folder whose path is one line of UTF-8"
    ):
        FolderArchive(tmp_path / name)


_FILLS_THE_DISK = """
import errno, os, resource, sys
from otel_errcompact_context.memory.archive import FolderArchive
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
archive = FolderArchive(sys.argv[1])
small = archive.keep("small")
try:
    archive.keep("x" * 10_000)
except OSError as error:
    print(errno.errorcode[error.errno], error.strerror)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print(archive.read(small), len(os.listdir(sys.argv[1])))
"""


@pytest.mark.programs
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of that kind")
def test_a_file_that_cannot_be_written_to_its_end_leaves_nothing_behind(folder: Path) -> None:
    """The system itself refuses in the middle of a text: an error says so, and no half of a file remains."""
    done = subprocess.run(
        [sys.executable, "-c", _FILLS_THE_DISK, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"EFBIG cannot keep 10,000 bytes in {folder}: File too large\nsmall 1\n"


def test_many_threads_keep_the_same_texts(archive: Archive) -> None:
    """None of them reads less than the whole, and nothing unfinished remains."""
    texts = [f"text {number}\n" * 1_000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        read = list(threads.map(lambda text: archive.read(archive.keep(text)), texts * 25))
    assert read == texts * 25


_KEEPS_MANY = """
import sys
from otel_errcompact_context.memory.archive import FolderArchive
archive = FolderArchive(sys.argv[1])
for number in range(200):
    text = f"text {number}\\n" * 100
    assert archive.read(archive.keep(text)) == text
"""


@pytest.mark.programs
def test_many_processes_share_a_folder(folder: Path) -> None:
    """The same texts, at the same time, and each file is there once."""
    running = [subprocess.Popen([sys.executable, "-c", _KEEPS_MANY, str(folder)]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert len(list(folder.iterdir())) == 200


def test_memory_that_is_full_is_a_full_disk() -> None:
    """What does not fit is refused, and what is there already costs nothing again."""
    archive = MemoryArchive(max_characters=10)
    place = archive.keep("12345678")
    with pytest.raises(OSError, match=r"cannot keep 3 characters in memory: 2 are free") as full:
        archive.keep("abc")
    assert full.value.errno == errno.ENOSPC
    assert archive.keep("12345678") == place
    assert archive.read(archive.keep("ab")) == "ab"


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_is_not_stopped_by_a_lock_of_its_parent() -> None:
    """A fork while another thread keeps a text leaves the child a lock of its own."""
    archive = MemoryArchive()
    with archive._lock:
        child = os.fork()
        if not child:  # pragma: no cover - in the child
            os._exit(archive.keep("text") != "memory:00000001")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
