"""Models are those of pydantic, without pydantic where nothing is checked."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from otel_errcompact.runtime.models import FrozenModel, setting


class Limits(FrozenModel):
    """Limits."""

    same: int = setting(default=3, ge=1)
    names: frozenset[str] = frozenset()


class Settings(FrozenModel):
    """Settings with others inside."""

    limits: Limits = Limits()
    path: Path | None = None


class More(Settings):
    """Settings of a user of the library."""

    level: int = 1


class Report(FrozenModel, checks=False):
    """What the library itself puts together."""

    run: str
    limits: tuple[Limits, ...] = ()
    tick: int = setting(default=0, exclude=True, repr=False)


class PydanticLimits(BaseModel):
    """The same in pydantic."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Limits")

    same: int = Field(default=3, ge=1)
    names: frozenset[str] = frozenset()


@pytest.mark.parametrize("given", [{"same": 0}, {"same": "x"}, {"sam": 4}, {"names": [1]}], ids=str)
def test_errors_are_those_of_pydantic(given: dict[str, object]) -> None:
    """Place, words, input and kind."""
    with pytest.raises(ValidationError) as ours:
        Limits(**given)  # type: ignore[arg-type]
    with pytest.raises(ValidationError) as theirs:
        PydanticLimits(**given)  # type: ignore[arg-type]
    assert str(ours.value) == str(theirs.value)


def test_values_are_read_as_pydantic_reads_them() -> None:
    """Numbers in texts, lists for sets, mappings for models, JSON."""
    found = Settings(limits={"same": "4", "names": ["a"]}, path="/srv")  # type: ignore[arg-type]
    assert found == Settings(limits=Limits(same=4, names=frozenset({"a"})), path=Path("/srv"))
    assert Settings.model_validate({"limits": {"same": 4}}).limits.same == 4
    assert Settings.model_validate(found) is found
    assert Settings.model_validate_json('{"limits": {"same": 4}}') == Settings(limits=Limits(same=4))
    with pytest.raises(ValidationError, match=r"limits\.same\n"):
        Settings(limits={"same": 0})  # type: ignore[arg-type]


def test_values_are_written_as_pydantic_writes_them() -> None:
    """Also those of models inside, and without those that are left out."""
    found = Settings(limits=Limits(names=frozenset({"a"})), path=Path("/srv"))
    assert found.model_dump(mode="json") == {"limits": {"same": 3, "names": ["a"]}, "path": "/srv"}
    assert found.model_dump(exclude={"limits": {"names"}, "path": True}) == {"limits": {"same": 3}}
    assert Report(run="r", tick=7).model_dump_json() == '{"run":"r","limits":[]}'
    assert dict(Limits()) == {"same": 3, "names": frozenset()}


def test_what_was_given_is_known() -> None:
    """A given value may be the default; a copy knows what was changed."""
    assert Limits(same=3).model_fields_set == {"same"}
    assert Limits().model_fields_set == set()
    copied = Limits().model_copy(update={"same": 5})
    assert (copied.same, copied.model_fields_set) == (5, {"same"})
    assert Limits().model_copy() == Limits()
    assert Limits.model_validate({"same": 3}).model_fields_set == {"same"}


def test_nothing_can_change() -> None:
    """The error names the field, as pydantic's does."""
    limits = Limits()
    with pytest.raises(ValidationError, match=r"same\n  Instance is frozen"):
        limits.same = 4  # type: ignore[misc]
    with pytest.raises(ValidationError, match=r"same\n  Instance is frozen"):
        del limits.same
    assert limits.same == 3


def test_equal_values_are_equal() -> None:
    """Whichever were given; other classes are never equal."""
    assert Limits(same=3) == Limits()
    assert hash(Limits(same=3)) == hash(Limits())
    assert Limits() != Limits(same=4)
    assert Limits() != PydanticLimits()
    assert pickle.loads(pickle.dumps(Limits(same=4))) == copy.deepcopy(Limits(same=4)) == Limits(same=4)


def test_they_read_as_pydantic_has_it() -> None:
    """With what is left out of the representation."""
    assert repr(Limits(same=4)) == "Limits(same=4, names=frozenset())"
    assert str(Limits(same=4)) == str(PydanticLimits(same=4))
    assert repr(Report(run="r", tick=7)) == "Report(run='r', limits=())"


def test_a_class_of_a_class() -> None:
    """It has the fields of both."""
    assert More(level=2, limits={"same": 4}) == More(level=2, limits=Limits(same=4))  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match=r"level\n"):
        More(level="x")  # type: ignore[arg-type]


def test_what_the_library_makes_is_not_checked_but_whole() -> None:
    """A value that is missing is an error, one too many is left out, as pydantic does by default."""
    limits = (Limits(),)
    assert Report(run="r", limits=limits).limits is limits
    with pytest.raises(ValidationError, match=r"run\n  Field required"):
        Report()  # type: ignore[call-arg]
    assert Report(run="r", more=1) == Report(run="r")  # type: ignore[call-arg]
    assert Report.model_validate({"run": "r", "limits": [{"same": 4}]}).limits == (Limits(same=4),)


def test_a_model_of_pydantic_holds_them() -> None:
    """It reads them from mappings, keeps objects, writes them and describes them."""

    class Holder(BaseModel):
        limits: Limits = Limits()

    given = Limits(same=4)
    assert Holder(limits=given).limits is given
    assert Holder.model_validate_json('{"limits": {"same": 4}}').limits == given
    assert Holder(limits=given).model_dump() == {"limits": {"same": 4, "names": frozenset()}}
    assert TypeAdapter(Limits).json_schema()["properties"]["same"]["minimum"] == 1
