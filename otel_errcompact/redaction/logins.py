"""
Know where commands, calls, devices and sentences take a password.

None of these has a name of the secret right in front of it.
"""

from __future__ import annotations

from typing import Final

from otel_errcompact.redaction.found import Place, Places
from otel_errcompact.runtime.lazy import lazy_pattern

LOGINS: Final[Places] = (
    (
        ("echo ", "printf ", "<<<", "rabbitmqctl", "htpasswd", "useradd ", "usermod ", "net use ", "vault login"),
        (
            Place(
                ("echo ", "printf "),
                lazy_pattern(
                    r"(?:echo|printf)(?: -\w)?[ ]['\"]?(?P<secret>[^'\"|\n]{4,400}?)(?:\\n)?['\"]?[ ]?\|[^\n]{0,120}"
                    r"(?:sudo[^\n]{0,20} -S|stdin|chpasswd|passwd\b)"
                ),
                "password",
            ),
            Place(
                ("echo ", "printf "),
                lazy_pattern(
                    r"(?:pass\w{0,8}|token|secret|key)[\w-]{0,10}[ =]<\((?:echo|printf)(?: -\w)?[ ]['\"]?"
                    r"(?P<secret>[^\s'\")]{2,400})"
                ),
                "password",
            ),
            Place(
                ("<<<",),
                lazy_pattern(
                    r"(?i)(?:token|passw|login|secret|key)[^\n<]{0,80}<<<[ ]?['\"]?(?P<secret>[^\s'\"$]{6,400})"
                ),
                "password",
            ),
            Place(
                ("rabbitmqctl",),
                lazy_pattern(
                    r"rabbitmqctl\b[^\n|;]{0,60}? (?:add_user|change_password|authenticate_user) ['\"]?[^\s'\"]{1,80}"
                    r"['\"]?"
                    r" ['\"]?(?P<secret>[^\s'\"]{2,200})"
                ),
                "password",
            ),
            Place(
                ("htpasswd",),
                lazy_pattern(
                    r"(?m)htpasswd (?=[^\n]{0,40}-\w{0,6}b)(?:-\w{1,8} ){1,4}(?:[^\s-]\S{0,100} )?[\w.@-]{1,60} "
                    r"['\"]?(?P<secret>[^\s'\"]{2,100})['\"]?[ \t]*$"
                ),
                "password",
            ),
            Place(
                ("useradd ", "usermod "),
                lazy_pattern(
                    r"user(?:add|mod)\b[^\n|;]{0,200}? (?:-p|--password)[ =]['\"]?(?P<secret>[^\s'\"-][^\s'\"]{1,200})"
                ),
                "password",
            ),
            Place(
                ("net use ",),
                lazy_pattern(
                    r"(?i)net use (?:\S{1,2}: )?\\\\\S{1,100} (?P<secret>[^\s/]\S{1,100})(?=[^\n]{0,80}/user)"
                ),
                "password",
            ),
            Place(
                ("vault login",),
                lazy_pattern(r"vault login (?![-\w]{1,20}=|-)(?P<secret>\S{6,200})"),
                "secret",
            ),
        ),
    ),
    (
        ("auth", "cred", "securestring", "connect("),
        (
            Place(
                # a user and a password in a call: HTTPBasicAuth("jane", "...")
                ("auth", "credential"),
                lazy_pattern(
                    r"(?i)(?:credentials?|auth(?:entication)?)(?:=| = |\":[ ]?|':[ ]?)?\([ ]?['\"][^'\"\n]{1,100}"
                    r"['\"],[ ]?['\"]"
                    r"(?P<secret>[^'\"\n]{2,200})['\"][ ]?\)"
                ),
                "password",
            ),
            Place(
                ("connect(",),
                lazy_pattern(
                    r"(?:sql\w{0,20}|db|maria\w{0,10})\.connect\((?:['\"][^'\"\n]{1,100}['\"],[ ]?){2}['\"]"
                    r"(?P<secret>[^'\"\n]{2,200})['\"]"
                ),
                "password",
            ),
            Place(
                ("securestring",),
                lazy_pattern(r"(?i)securestring (?:-string )?['\"](?P<secret>[^'\"\n]{2,200})['\"]"),
                "password",
            ),
            Place(
                ("auth", "cred"),
                lazy_pattern(
                    r"(?i)(?:basic[_-]?auth|rpcauth|cred(?:ential)?s?(?: for \S{1,60})?)['\"]?(?:\s?=\s?|:[ ]?)['\"]?"
                    r"[\w.@-]{1,60}(?: / |:)(?P<secret>[^\s/'\",;][^\s'\",;]{3,200})"
                ),
                "password",
            ),
        ),
    ),
    (
        ("snmp", "community string", "enable secret", "-server key", "username ", "unseal key", "bearer", "psk"),
        (
            Place(
                # devices of a network
                ("snmp", "enable secret", "-server key", "username "),
                lazy_pattern(
                    r"(?:snmp-server community|enable (?:secret|password)|(?:radius|tacacs)-server key"
                    r"|username \S{1,40}(?: privilege \d{1,2})? (?:secret|password))(?: [0-9](?= ))? "
                    r"(?P<secret>\S{4,200})"
                ),
                "password",
            ),
            Place(
                ("snmp", "community string"),
                lazy_pattern(
                    r"(?i)(?:community string[:=] ?['\"]?|snmp\w{2,10} [^\n|;]{0,100}?-c ['\"]?)(?P<secret>"
                    r"[^\s'\"]{4,100})"
                ),
                "password",
            ),
            Place(
                ("unseal key", "bearer", "psk"),
                lazy_pattern(
                    r"(?i)(?:unseal key(?: \d{1,2})?|\bbearer|psk)['\"]?[ ]?[:=][ ]?['\"]?(?P<secret>"
                    r"[\w.~+/=!@#$%^&*-]{8,400})"
                ),
                "secret",
            ),
        ),
    ),
    (
        ("user ", " login ", "@//", "pin"),
        (
            Place(
                ("user ",),
                lazy_pattern(r"\bUSER \S{1,80}(?:\s(?:.|\n){0,200}?)?\sPASS (?P<secret>\S{2,100})"),
                "password",
            ),
            Place(
                (" login ",),
                lazy_pattern(
                    r"\b[A-Za-z]{1,4}[0-9]{1,6} LOGIN ['\"]?[\w.@-]{1,80}['\"]? ['\"]?(?P<secret>[^\s'\"]{2,100})"
                ),
                "password",
            ),
            Place(
                ("@//",),
                lazy_pattern(r"\b\w{1,60}/(?P<secret>[^\s@'\"/]{2,100})(?=@//[\w.-])"),
                "password",
            ),
            Place(
                ("pin",),
                lazy_pattern(r"(?i)(?<![\w.-])pin['\"]?[ ]?[:=][ ]?['\"]?(?P<secret>[0-9]{4,8})\b"),
                "password",
            ),
        ),
    ),
)
