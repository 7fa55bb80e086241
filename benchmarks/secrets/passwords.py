"""Passwords of several habits, and random values that only their name makes secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.secrets.forms import fill
from benchmarks.secrets.kind import Kind, Value, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

WORDS = (
    "anchor", "apple", "bridge", "butter", "camera", "candle", "castle", "cherry", "copper", "coral", "cotton",
    "desert", "dragon", "eagle", "ember", "falcon", "flower", "forest", "galaxy", "garden", "ginger", "hammer",
    "harbor", "honey", "island", "jasmine", "jungle", "kettle", "lantern", "lemon", "magnet", "maple", "marble",
    "meadow", "monkey", "mountain", "nectar", "ocean", "orange", "orchid", "panther", "pepper", "pirate", "planet",
    "purple", "rabbit", "river", "rocket", "saddle", "salmon", "shadow", "silver", "spider", "summer", "sunset",
    "thunder", "tiger", "tulip", "turtle", "velvet", "violet", "walnut", "willow", "winter", "wizard", "yellow",
    "zebra",
)  # fmt: skip
LEET = str.maketrans("aeios", "@3!0$")


def _word(rng: Random) -> str:
    return rng.choice(WORDS)


def _words(rng: Random, number: int, between: str) -> str:
    return between.join(rng.sample(WORDS, number))


def _password(name: str, variable: str, make: Callable[[Random], str]) -> Kind:
    return Kind(name, variable, "password", lambda rng: whole(make(rng)), recognisable=False)


def _random(name: str, variable: str, form: str) -> Kind:
    return Kind(name, variable, "random", lambda rng: whole(fill(form, rng)), recognisable=False)


def _user_and_password(rng: Random) -> Value:
    password = fill("{b62:14}", rng)
    return Value(f"{_word(rng)}:{password}", (password,))


PASSWORDS = (
    _password("password: a word", "DB_PASSWORD", _word),
    _password(
        "password: a word and a year", "DATABASE_PASSWORD", lambda rng: f"{_word(rng).title()}{rng.randint(1970, 2026)}"
    ),
    _password(
        "password: a word, a year, a mark",
        "ADMIN_PASSWORD",
        lambda rng: f"{_word(rng).title()}{rng.randint(2015, 2026)}!",
    ),
    _password("password: a name and digits", "MYSQL_ROOT_PASSWORD", lambda rng: f"{_word(rng)}{rng.randint(1, 999)}"),
    _password(
        "password: leet", "POSTGRES_PASSWORD", lambda rng: f"{_word(rng).title().translate(LEET)}{rng.randint(10, 99)}!"
    ),
    _password("password: four words with hyphens", "BACKUP_PASSPHRASE", lambda rng: _words(rng, 4, "-")),
    _password("password: three words with dots", "SMTP_PASSWORD", lambda rng: _words(rng, 3, ".")),
    _password("password: words with spaces", "GPG_PASSPHRASE", lambda rng: _words(rng, 4, " ")),
    _password(
        "password: camel words", "LDAP_PASSWORD", lambda rng: "".join(word.title() for word in rng.sample(WORDS, 3))
    ),
    _password(
        "password: words joined by underscores",
        "APP_PASSWORD",
        lambda rng: _words(rng, 2, "_") + fill("{digits:2}", rng),
    ),
    _password("password: six digits", "DEVICE_PIN", lambda rng: fill("{digits:6}", rng)),
    _password("password: one-time code", "OTP_CODE", lambda rng: fill("{digits:6}", rng)),
    _password("password: short random", "FTP_PASSWORD", lambda rng: fill("{b62:8}", rng)),
    _password("password: short lower case", "REDIS_PASSWORD", lambda rng: fill("{lower:8}", rng)),
    _password("password: long random", "PGPASSWORD", lambda rng: fill("{b62:32}", rng)),
    _password("password: symbols", "MSSQL_SA_PASSWORD", lambda rng: fill("{symbols:16}", rng)),
    _password("password: long symbols", "KEYSTORE_PASSWORD", lambda rng: fill("{symbols:32}", rng)),
    _password(
        "password: begins with a symbol",
        "RABBITMQ_DEFAULT_PASS",
        lambda rng: rng.choice("!#$%*+@^~") + fill("{b62:11}", rng),
    ),
    _password(
        "password: ends with a symbol",
        "MONGO_INITDB_ROOT_PASSWORD",
        lambda rng: fill("{b62:11}", rng) + rng.choice("!.,;)]}="),
    ),
    _password("password: quotes inside", "VNC_PASSWORD", lambda rng: fill("{b62:5}\"{b62:5}'{b62:4}", rng)),
    _password("password: a backslash inside", "WINRM_PASSWORD", lambda rng: fill("{b62:6}\\{b62:8}", rng)),
    _password(
        "password: marks of URLs inside", "PROXY_PASSWORD", lambda rng: fill("{b62:5}@{b62:4}:{b62:3}/{b62:3}", rng)
    ),
    _password(
        "password: marks of a shell inside", "SUDO_PASSWORD", lambda rng: fill("{b62:4}${b62:4}&{b62:4};{b62:3}", rng)
    ),
    _password("password: umlauts", "WIFI_PASSWORD", lambda rng: f"Grüße-{_word(rng)}-Öl{rng.randint(10, 99)}"),
    _password(
        "password: manager's groups",
        "APPLE_APP_PASSWORD",
        lambda rng: "-".join(fill("{lower:6}", rng) for _ in range(3)),
    ),
    _password("password: Google app password", "GMAIL_APP_PASSWORD", lambda rng: fill("{lower:16}", rng)),
)

RANDOM = (
    _random("random: 32 hexadecimal", "APP_SECRET", "{hex:32}"),
    _random("random: 40 hexadecimal", "GITEA_TOKEN", "{hex:40}"),
    _random("random: 64 hexadecimal", "JWT_SECRET", "{hex:64}"),
    _random("random: base64 of 32 bytes", "ENCRYPTION_KEY", "{base64:32}"),
    _random("random: base64 of 64 bytes", "SIGNING_KEY", "{base64:64}"),
    _random("random: base64 for URLs", "CLIENT_SECRET", "{base64url:32}"),
    _random("random: UUID", "API_TOKEN", "{uuid}"),
    _random("random: Django's secret key", "DJANGO_SECRET_KEY", "django-insecure-{symbols:50}"),
    _random("random: Rails' master key", "RAILS_MASTER_KEY", "{hex:32}"),
    _random("random: Laravel's key", "APP_KEY", "base64:{base64:32}"),
    _random("random: Fernet key", "FERNET_KEY", "{base64url:32}="),
    _random("random: WireGuard key", "WG_PRIVATE_KEY", "{base64:32}"),
    _random("random: TOTP seed", "TOTP_SECRET", "{b32:32}"),
    Kind("user and password", "BASIC_AUTH", "connection", _user_and_password, recognisable=False),
)
