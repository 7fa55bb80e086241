"""
Hold values in frozen classes that pydantic checks, reads and writes.

Pydantic takes longer to import than all else of this library. So it is loaded only where there is something to check:
defaults are right already, and so is what this library itself puts together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from pydantic import BaseModel
    from pydantic.annotated_handlers import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

_REQUIRED: Final = object()


class Setting:
    """
    Describes one field of a model.

    Args:
        default: The default; without one the field must be given.
        constraints: What pydantic's `Field` takes beside the default: `ge`, `le`, `exclude`, `repr` and so on.
    """

    __slots__ = ("constraints", "default")

    def __init__(self, default: Any = _REQUIRED, /, **constraints: Any) -> None:
        self.default = default
        self.constraints = constraints

    @property
    def is_required(self) -> bool:
        """Whether the field has no default."""
        return self.default is _REQUIRED


def setting(*, default: Any, **constraints: Any) -> Any:
    """
    Return a field with a default and constraints.

    Args:
        default: The default.
        constraints: As `Setting` takes them.
    """
    return Setting(default, **constraints)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(setting,))
class FrozenModel:
    """
    Hold values that cannot change, with methods as pydantic's models have.

    A subclass declares its fields as a pydantic model does. The same model of pydantic, made at its first need, checks
    given values, and reads and writes JSON.
    """

    model_fields: ClassVar[Mapping[str, Setting]] = {}
    """The fields by name."""

    _checks: ClassVar[bool] = True
    _annotations: ClassVar[Mapping[str, Any]] = {}
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _pydantic: ClassVar[type[BaseModel] | None] = None

    def __init_subclass__(cls, *, checks: bool = True, **more: Any) -> None:
        """
        Collect the fields of a new class.

        Args:
            checks: Whether given values are checked; not where only this library makes objects of the class.
            more: What further bases take.
        """
        super().__init_subclass__(**more)
        fields = dict(cls.model_fields)
        for name in cls.__annotations__:
            declared = cls.__dict__.get(name, _REQUIRED)
            fields[name] = declared if isinstance(declared, Setting) else Setting(declared)
            if name in cls.__dict__:
                delattr(cls, name)
        cls.model_fields = fields
        cls._annotations = {**cls._annotations, **cls.__annotations__}
        cls._checks = checks
        cls._defaults = {name: field.default for name, field in fields.items() if not field.is_required}
        cls._pydantic = None

    def __init__(self, **given: Any) -> None:
        if given and (self._checks or not given.keys() <= self.model_fields.keys()):
            checked = self._to_pydantic()(**given)
            given = {name: getattr(checked, name) for name in checked.model_fields_set}
        values = {**self._defaults, **given}
        if len(values) < len(self.model_fields):
            self._to_pydantic()(**given)  # which raises an error with the names that are missing
        self.__dict__.update(values, _given=frozenset(given))

    @property
    def model_fields_set(self) -> frozenset[str]:
        """The names of the fields that were given."""
        given: frozenset[str] = self.__dict__["_given"]
        return given

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """
        Return a copy with changes, which are not checked.

        Args:
            update: New values by field.
        """
        return self._make_model({**self.__dict__, **(update or {})}, self.model_fields_set | (update or {}).keys())

    @classmethod
    def model_validate(cls, values: Any) -> Self:
        """
        Return the object of a mapping.

        Args:
            values: Values by field, those of other models as mappings too.

        Raises:
            pydantic.ValidationError: A value is missing, unknown or not allowed.
        """
        return values if isinstance(values, cls) else cls._from_pydantic(cls._to_pydantic().model_validate(values))

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """
        Return the object of a JSON text.

        Raises:
            pydantic.ValidationError: A value is missing, unknown or not allowed, or it is not JSON.
        """
        return cls._from_pydantic(cls._to_pydantic().model_validate_json(text))

    def model_dump(self, **how: Any) -> dict[str, Any]:
        """
        Return the values by field, those of other models as dictionaries too.

        Args:
            how: As `model_dump` of pydantic takes it: `mode="json"`, `exclude` and so on.
        """
        return self._as_pydantic().model_dump(**how)

    def model_dump_json(self, **how: Any) -> str:
        """
        Return the values as JSON.

        Args:
            how: As `model_dump_json` of pydantic takes it.
        """
        return self._as_pydantic().model_dump_json(**how)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._as_pydantic(), name, value)  # which raises an error that names the field

    def __delattr__(self, name: str) -> None:
        delattr(self._as_pydantic(), name)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._read_values().items())

    def __eq__(self, other: object) -> bool:
        return self._read_values() == other._read_values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *self._read_values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._show_fields(', ')})"

    def __str__(self) -> str:
        return self._show_fields(" ")

    def _show_fields(self, separator: str) -> str:
        shown = (name for name, field in self.model_fields.items() if field.constraints.get("repr", True))
        return separator.join(f"{name}={self.__dict__[name]!r}" for name in shown)

    def _read_values(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.model_fields}

    # --- pydantic ----------------------------------------------------------------------------------------------------

    @classmethod
    def _make_model(cls, values: Mapping[str, Any], given: frozenset[str]) -> Self:
        made = cls.__new__(cls)
        made.__dict__.update(values, _given=given)
        return made

    @classmethod
    def _to_pydantic(cls) -> type[BaseModel]:
        if cls._pydantic is None:
            cls._pydantic = cls._make_pydantic()  # threads that meet here make equal ones
        return cls._pydantic

    @classmethod
    def _make_pydantic(cls) -> type[BaseModel]:
        from pydantic import ConfigDict, Field, create_model

        fields: dict[str, Any] = {}
        for name, annotation in cls._annotations.items():
            field = cls.model_fields[name]
            fields[name] = (annotation, Field(... if field.is_required else field.default, **field.constraints))
        config = ConfigDict(frozen=True, extra="forbid" if cls._checks else "ignore")
        return create_model(cls.__name__, __config__=config, __module__=cls.__module__, **fields)

    @classmethod
    def _from_pydantic(cls, found: Any) -> Self:
        return cls._make_model(found.__dict__, frozenset(found.model_fields_set))

    def _as_pydantic(self) -> BaseModel:
        return self._to_pydantic().model_construct(set(self.model_fields_set), **self._read_values())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return how models of pydantic check and write such a field."""
        from pydantic_core import core_schema

        model = handler.generate_schema(cls._to_pydantic())
        return core_schema.no_info_wrap_validator_function(
            lambda value, read: value if isinstance(value, cls) else cls._from_pydantic(read(value)),
            model,
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda value, write: write(value._as_pydantic()),  # noqa: SLF001 - its own class
                schema=model,
            ),
        )
