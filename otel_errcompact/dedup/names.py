"""
Names: words joined by `-`, `.`, `_`, `/` and the like.

Digits belong to a name unless they look made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

_DIGIT: Final = lazy_pattern(r"[0-9]")

KEEP: Final = ""
BEHIND_WORD: Final = "-<id>"
"""The first word stays, and what stands behind it is an id."""

IF_INVENTED: Final = "<id>?"
"""An id where it looks made up."""


class NameForm(NamedTuple):
    """One form of what varies in a name, or of what looks like it and stays."""

    name: str
    pattern: str
    """Begins at the beginning of a word, with a character or a class, so that the engine can skip it quickly."""

    token: str
    """What a template shows; with `BEHIND_WORD` and `IF_INVENTED` more is decided."""

    masks: tuple[tuple[str, str], ...] = ()
    """Texts and their templates."""

    keeps: tuple[str, ...] = ()
    """Texts that are their own templates."""


NAME_FORMS: Final = (
    NameForm(
        "uuid",
        r"[0-9a-fA-F][0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)",
        "<id>",
        (("no app.33333333-4444-5555-6666-777777777777", "no app.<id>"),),
        ("feedface-cafe-4d7a",),
    ),
    NameForm("segment", r"[0-9](?<=[a-z0-9_]/.)[0-9]*(?!\w)", "<id>", (("no items/81723", "no items/<id>"),), ("i/o",)),
    NameForm("leading", r"[0-9](?<!..)[0-9]*(?!\w)", "<id>", (("3344.py failed", "<id>.py failed"),), ("x264.py",)),
    NameForm(
        "suffix",
        r"[0-9](?<=_.)[0-9]{3,}(?!\w)(?<!_19[0-9]{2})(?<!_20[0-9]{2})(?<!_20[0-9]{6})",
        "<id>",
        (("no user mia_li_3668", "no user mia_li_<id>"),),
        ("no table orders_2024", "no table orders_20241022", "name 'col_12'"),
    ),
    # Which platform makes a name is known by its form.
    NameForm(
        "cluster_run",
        r"(?:(?:application|container|attempt|task|job)_(?:e[0-9]+_)?[0-9]{6,}(?:_[0-9mr]+)*"
        r"|(?:shuffle|broadcast|rdd|temp_shuffle)_[0-9]+(?:_[0-9]+)+)(?![^\W_])",
        BEHIND_WORD,
        (
            ("application_1699999999999_0012 was killed", "application_<id> was killed"),
            ("container_e17_1699999999999_0012_01_000001", "container_<id>"),
            ("attempt_202401051011_0003_m_000000_0 failed", "attempt_<id> failed"),
            ("no file shuffle_0_12_0.index", "no file shuffle_<id>.index"),
        ),
        ("no attribute 'task_1'", "name 'job_20' is not defined", "no column stage_2", "block_size_4 is unknown"),
    ),
    NameForm("code", r"[A-Z][A-Z]+[-_]?[0-9]+(?:-[0-9]+)*(?!\w)", KEEP, (), ("ORA-00942", "CVE-2021-44228", "BC30451")),
    NameForm(
        "temporary",
        r"tmp(?=[a-z_]{0,7}[0-9])[a-z0-9_]{6,8}(?!\w)",
        "<tmp>",
        (("in 'tmpzz81qa/config.json'", "in '<tmp>/config.json'"),),
        ("no tmpfs2", "no fixture tmp_path_factory2"),
    ),
    NameForm(
        "dated",
        r"[12](?<=[a-z]-.)[0-9]{3}(?:-[0-9]{2}){5}(?:-[0-9]{3})?(?![\w])",
        "<id>",
        (("no endpoint pytorch-training-2024-01-05-10-11-12-123", "no endpoint pytorch-training-<id>"),),
        ("no branch release-2024-05", "model gpt-4o-2024-08-06"),
    ),
    NameForm(
        "numbered",
        r"(?:[A-Za-z]*(?:Task|Thread|Worker|Process|Executor|Pool)|worker|thread|task|job|run|shard|attempt|input"
        r"|host|server|replica|broker|runner|agent|instance|pod|partition|machine|executor|consumer|producer|node|gpu"
        r"|compute|vm)-(?!00[0-9]{3}-[a-z]{3}(?!\w))[0-9]+(?:_[0-9]+)?(?![^\W_])|pool-[0-9]+(?=-)|ip(?:-[0-9]{1,3}){4}(?!\w)",
        BEHIND_WORD,
        (
            ("Task-42 was destroyed", "Task-<id> was destroyed"),
            ("ThreadPoolExecutor-0_3 died", "ThreadPoolExecutor-<id> died"),
            ("pool-7-thread-13 died", "pool-<id>-thread-<id> died"),
            ("ForkJoinPool-1-worker-3 died", "ForkJoinPool-<id>-worker-<id> died"),
            ("node ip-10-0-3-99.ec2.internal", "node ip-<id>.ec2.internal"),
        ),
        (
            "web-01 is down",
            "no branch feature-42",
            "gpt-4 is down",
            "python-3-11 is missing",
            "no machine n1-standard-4",
        ),
    ),
    NameForm(
        "prefixed",
        r"(?:(?:req|call|chatcmpl|cmpl|resp|msg|toolu|thread|run|asst|evt|batch|sess|session|trace|span|org|proj|cus|acct"
        r"|txn)[-_](?:(?=[A-Za-z]*[0-9][A-Za-z]*[0-9])[A-Za-z0-9]{6,}|[A-Za-z0-9]{20,})"
        r"|(?:cus|pi|ch|pm|sub|price|prod|seti|src|tok|card|in|si|re)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{14,24})(?!\w)",
        BEHIND_WORD,
        (
            ("no call req_7f3a9b1c2d", "no call req_<id>"),
            ("no toolu_01XFDUDYJgAACzvnptvVoYEL", "no toolu_<id>"),
            ("No such customer: 'cus_NffrFeUfNV2Hib'", "No such customer: 'cus_<id>'"),
        ),
        ("no call_site", "no batch_size2", "price_list_2024"),
    ),
    NameForm(
        "build",
        r"[A-Za-z0-9](?<=[-.].)(?=[A-Za-z_]{0,19}[0-9])\w{7,19}(?=(?:\.[a-z]{1,8})?\.(?:[cm]?jsx?|css|map|wasm)(?!\w))",
        "<hash>",
        (("at index-4185d9aa.js", "at index-<hash>.js"),),
        ("at jquery-3.7.1.js", "at chunk-vendors.js"),
    ),
    NameForm(
        "pod",
        r"[b-z0-9](?<=-.)(?=[a-z]{0,9}[0-9])[bcdf-hj-np-tv-z0-9]{7,9}-[bcdf-hj-np-tv-z0-9]{5}(?!\w)",
        "<id>",
        (('pods "web-6d4cf56db6-x2x7z" not found', 'pods "web-<id>" not found'),),
        ("pods web-frontend-proxy", "image nvidia-535"),
    ),
    NameForm(
        "scheduled_pod",
        # Minutes since 1970, as a cron job names its jobs; a date is part of a name.
        r"[23](?<=[a-z0-9]-.)(?<=[a-z0-9]-[23])(?=[7-9]|(?<=3).)[0-9]{7}(?:-[a-z0-9]{5})?(?![\w-])",
        "<id>",
        (
            ("pod load-28412345-abcde failed", "pod load-<id> failed"),
            ('job "nightly-backup-28412345" failed', 'job "nightly-backup-<id>" failed'),
        ),
        ("model claude-3-5-sonnet-20241022", "table events-20240101", "build app-2841"),
    ),
    NameForm(
        "revision",
        r"0(?<=[a-z0-9]-.)0[0-9]{3}(?:-[a-z]{3})?(?![\w-])",
        "<id>",
        (
            ("Revision 'shop-worker-00007-dlk' is not ready", "Revision 'shop-worker-<id>' is not ready"),
            ('Revision "hello-00042" failed', 'Revision "hello-<id>" failed'),
        ),
        ("ORA-00942", "no file part-007", "zone us-central1-abc", "no rfc-0822"),
    ),
    NameForm(
        "resource",
        r"[0-9a-f](?<=[a-z0-9]-.)(?=[a-f]{0,5}[0-9])[0-9a-f]{6}(?![\w.-])",
        "<id>",
        (
            ('bucket "files-00679ed" is taken', 'bucket "files-<id>" is taken'),
            ("no role deployer-91c0ffe", "no role deployer-<id>"),
        ),
        ("no package libfoo-effaced", "no rule no-defaced", "no service auth-gateway", "no tag build-20240101"),
    ),
    NameForm(
        "object",
        r"[0-9a-f](?<=[A-Za-z_]#.)(?=[a-f]{0,3}[0-9])[0-9a-f]{4}(?!\w)|[0-9](?<=[A-Za-z_]#.)(?<!\bC#.)[0-9]*(?!\w)",
        "<id>",
        (
            ("RenderFlex#d7660 overflowed", "RenderFlex#<id> overflowed"),
            ("_CartState#0a1bc(defunct)", "_CartState#<id>(defunct)"),
            ("closure main#41 failed", "closure main#<id> failed"),
        ),
        ("undefined method Cart#total", "no action users#added", "C#12 is needed", "no anchor page#faded"),
    ),
    NameForm(
        "short",
        r"[A-Za-z0-9](?<=/.)(?=[A-Za-z]*[0-9]+[A-Za-z])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?![A-Z]?[a-z]{2,}[0-9]+[A-Z]?[a-z]*(?!\w))"
        r"(?![A-Z]+[0-9]+[a-z]*(?!\w))[A-Za-z0-9]{4,6}(?![\w.-])",
        "<id>",
        (("packages/Taxes/47eRY is missing", "packages/Taxes/<id> is missing"),),
        (
            "no module app/Base64",
            "no module app/Http2Api",
            "no module lib/OAuth2",
            "no folder x/macOS",
            "no module app/V8api",
        ),
    ),
    NameForm("mixed", r"[A-Za-z](?=[A-Za-z]*[0-9])[A-Za-z0-9]{4,}(?![^\W_])", IF_INVENTED),
    NameForm(
        "index",
        r"[0-9](?<=[A-Za-z_]\..)(?<!\.so\..)[0-9]*(?:\.[0-9]+)*(?!\w)",
        "<index>",
        (("items.0.qty: Field required", "items.<index>.qty: Field required"),),
        ("libcudart.so.12: cannot open",),
    ),
    NameForm("digits", r"[0-9][A-Za-z0-9]{4,}(?![^\W_])", IF_INVENTED),
    NameForm(
        "handle", r"@(?<=\w.)[0-9a-f]{5,8}(?!\w)", "@<id>", (("Object_@1b6d3586", "Object_@<id>"),), ("app@faded",)
    ),
)
"""In the order in which they are tried; the tests run their examples, and the documentation prints them."""

_TOKENS: Final = {form.name: form.token for form in NAME_FORMS}
_VOLATILE_IN_NAME: Final = lazy_pattern(
    lambda: rf"(?<![^\W_])(?:{'|'.join(f'(?:{form.pattern})(?P<{form.name}>)' for form in NAME_FORMS)})"
)

_INVENTED: Final = lazy_pattern(
    # A date is part of a name: claude-3-5-sonnet-20241022.
    r"(?!(?:19|20)[0-9]{6}\Z)(?:"
    r"[0-9]+\Z"
    r"|(?:[0-9a-f]{8,}|[0-9A-F]{8,}|(?=[0-9]+[a-f]+[0-9]|[a-f]+[0-9]+[a-f])[0-9a-f]{6,7})\Z"
    # Letters and digits in turns, other than in CamelCase2Names.
    r"|(?=[0-9]*[A-Za-z]+[0-9]+[A-Za-z]+[0-9])(?=[A-Za-z0-9]*[0-9][a-z]|[0-9]|[A-Z0-9]+\Z)[A-Za-z0-9]{8}"
    r"|[0-9][A-Za-z0-9]{15}"
    r")"
)
_ID_BEHIND_WORD: Final = lazy_pattern(r"(?<=[-_]).*")


def has_digit(text: str) -> bool:
    """Tell whether a text holds a digit from 0 to 9."""
    return _DIGIT.search(text) is not None


def mask_name(name: str) -> str:
    """Return a name whose made-up parts are masked."""
    return _VOLATILE_IN_NAME.sub(_mask_name_part, name)


def _mask_name_part(match: re.Match[str]) -> str:
    part, token = match[0], _TOKENS[match.lastgroup or ""]
    if token == IF_INVENTED:
        return "<id>" if _INVENTED.match(part) else part
    if token == BEHIND_WORD:
        return _ID_BEHIND_WORD.sub("<id>", part, count=1)
    return token or part


def mask_blob(text: str) -> str:
    """Mask base64 data; a long word of one case is a name."""
    is_data = has_digit(text) and not text.islower() and not text.isupper()
    return "<data>" if is_data else mask_name(text)
