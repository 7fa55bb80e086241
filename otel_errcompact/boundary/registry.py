"""The runs of an agent framework, by the framework's own ids."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact.boundary.runs import Run, current_run
from otel_errcompact.boundary.scope import RunScope, RunSettings, check_settings
from otel_errcompact.installation.install import current_ledger
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from typing import Unpack

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.escalator.thresholds import Mode


class _Hosted(NamedTuple):
    run: Run
    own: bool
    """Whether the registry has opened it, and so is to end it."""


class RunRegistry:
    """
    The runs of a framework, whose hooks share no `with` block.

    A run begins when its id is first seen. It is the run that is open in that context, if the application has opened
    one with `otel_errcompact.run()`, and else a run of its own, which ends with `end`, or when so many others have
    been used since that it is forgotten.

    Args:
        stoppable: Whether the runs have an agent that can be stopped; a server has none.
        settings: What all runs have in common, as for `otel_errcompact.run`; those of a run that the application has
            opened are its own.

    Raises:
        ConfigurationError: There is no such setting, or it is not what it should be.
    """

    def __init__(self, *, stoppable: bool = True, **settings: Unpack[RunSettings]) -> None:
        check_settings(settings)
        self._stoppable = stoppable
        self._settings = settings
        self._reset_runs()
        reset_in_child(self._reset_runs)

    @property
    def ledger(self) -> Ledger:
        """Where failures are counted."""
        return self._settings.get("ledger") or current_ledger()

    @property
    def mode(self) -> Mode:
        """What the library may do in runs that the registry opens."""
        return self._settings.get("mode") or self.ledger.options.mode

    def of(self, run_id: str, *, agent: str = "", resumes: str = "") -> Run:
        """
        Return the run of an id, opened at its first use.

        Args:
            run_id: The framework's own id.
            agent: The agent's name, where the framework tells; the registry's if empty.
            resumes: The id of the run that this one continues, where the framework gives each leg a new one.
        """
        run = self._find_or_open_run(run_id, agent=agent, resumes=resumes)
        run.port.claim_trace()
        return run

    def _find_or_open_run(self, run_id: str, *, agent: str, resumes: str) -> Run:
        with self._lock:
            hosted = self._hosted.get(run_id)
            if hosted is None and (hosted := self._hosted.pop(resumes, None)) is not None:
                self._hosted[run_id] = hosted
            if hosted is not None and not hosted.run.port.is_closed:
                self._hosted.move_to_end(run_id)
                return hosted.run
            around = current_run()
            settings: RunSettings = {**self._settings, "agent": agent or self._settings.get("agent", "")}
            run = around or Run(RunScope(run_id, stoppable=self._stoppable, **settings))
            self._hosted[run_id] = _Hosted(run, own=around is None)
            oldest = self._hosted.popitem(last=False) if len(self._hosted) > self._run_limit else None
        if around is None:
            run.port.open()
        if oldest is not None:
            self._close_run(*oldest)
        return run

    def begin(self, run_id: str, *, agent: str = "") -> Run:
        """
        Return a new run, for frameworks with a hook at its begin.

        What an earlier invocation has left under that id ends, also if it waited for a human: no answer will come.

        Args:
            run_id: The framework's own id.
            agent: The agent's name, where the framework tells; the registry's if empty.
        """
        with self._lock:
            left = self._hosted.pop(run_id, None)
        if left is not None:
            self._close_run(run_id, left)
        return self.of(run_id, agent=agent)

    def end(self, run_id: str) -> None:
        """End a run of the registry, unless it waits for a human."""
        with self._lock:
            hosted = self._hosted.get(run_id)
            if hosted is None or (hosted.own and hosted.run.verdict.standing == "pause"):
                return
            del self._hosted[run_id]
        self._close_run(run_id, hosted)

    def report(self, run_id: str) -> RunReport:
        """Return the report of a run that is open or ended lately."""
        with self._lock:
            hosted, final = self._hosted.get(run_id), self._reports.get(run_id)
        return hosted.run.report() if hosted is not None else final or self.ledger.report(run_id)

    def _close_run(self, run_id: str, hosted: _Hosted) -> None:
        if not hosted.own:
            return
        hosted.run.port.close()
        with self._lock:
            self._reports[run_id] = self._reports[hosted.run.run_id] = hosted.run.report()
            while len(self._reports) > self._run_limit:
                self._reports.popitem(last=False)

    @property
    def _run_limit(self) -> int:
        return self.ledger.options.memory.runs

    def _reset_runs(self) -> None:
        self._lock = ReentrantLock()
        self._hosted: OrderedDict[str, _Hosted] = OrderedDict()
        self._reports: OrderedDict[str, RunReport] = OrderedDict()
