"""Secrets leave a text however it is written; what only looks like one stays."""

from __future__ import annotations

import base64
import html
import json
from functools import partial
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.redaction.redact import redact
from tests.clock import grows_linearly

PASSWORD = "hunter2!Zq"
TOKEN = "f3Kq9ZtLmW2xYb8RvN4c"
KEY = "\n".join([*["MIIEow" + letter * 58 for letter in "abcdef"], "Ag=="])
IN_BASE64 = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()

WRITTEN = {
    "shell": f"DB_PASS={PASSWORD}",
    "export": f"export DB_PASSWORD={PASSWORD}",
    "trace of a shell": f"+ PGPASSWORD={PASSWORD} psql",
    "option with a sign": f"mysql --password={PASSWORD} shop",
    "option with a blank": f"mycli --token {TOKEN} list",
    "list of arguments": f"Command '['mysql', '--password', '{PASSWORD}', 'shop']' returned non-zero exit status 1.",
    "PowerShell": f'$env:API_KEY = "{TOKEN}"',
    "YAML": f"db:\n  password: {PASSWORD}",
    "YAML block": f"password: |\n  {PASSWORD}\n",
    "JSON": json.dumps({"password": PASSWORD}),
    "JSON in JSON": json.dumps({"body": json.dumps({"password": PASSWORD})}),
    "JSON in JSON in JSON": json.dumps({"x": json.dumps({"body": json.dumps({"api_key": TOKEN})})}),
    "bytes": repr({b"password": PASSWORD.encode()}),
    "arguments": f"connect(user='a', password='{PASSWORD}')",
    "wrapped": f"Settings(password=SecretStr('{PASSWORD}'))",
    "long string": f'password = """{PASSWORD}"""',
    "words in quotes": 'password: "correct horse hunter2!Zq"',
    "netrc": f"machine h.example login ann password {PASSWORD}",
    "pgpass": f"db.example.com:5432:shop:ann:{PASSWORD}",
    "header": f"X-Api-Key: {TOKEN}",
    "header of curl": f"curl -H 'X-Api-Key: {TOKEN}' https://x",
    "header as a pair": f"(b'x-api-key', b'{TOKEN}')",
    "header in HAR": json.dumps({"name": "X-Api-Key", "value": TOKEN}),
    "authorization": f"Authorization: token {TOKEN}",
    "authorization without a scheme": f"{{'Authorization': '{TOKEN}'}}",
    "basic": f"authorization: Basic {IN_BASE64}",
    "digest": f'Authorization: Digest username="ann", response="{TOKEN}"'.replace('"', ""),
    "cookie": f"Cookie: a=1; session={TOKEN}",
    "session": f"_shop_session={TOKEN}",
    "token in a URL": f"https://{TOKEN}@github.com/a/b",
    "password in a URL": f"postgres://ann:{PASSWORD}@db/x",
    "connection string": f"Server=x;User Id=sa;Password={PASSWORD};",
    "JDBC": f"jdbc:mysql://h/db?user=a&password={PASSWORD}",
    "Oracle": f"sqlplus ann/{PASSWORD}@db",
    "curl -u": f"curl -u ann:{PASSWORD} https://x",
    "mysql -p": f"mysql -uroot -p{PASSWORD} db",
    "sshpass": f"sshpass -p '{PASSWORD}' ssh x",
    "redis-cli": f"redis-cli -a {PASSWORD}",
    "long signs": "password: Y+4dpyAF#bf:313Fbwg|o3hunter2!Zq+93>zWnol(",
    "quote in quotes": f"mysql -u root -p'abcd\"{PASSWORD}' shop",
    "quote of a shell": f"mysql -u root -p'abcd'\"'\"'{PASSWORD}' shop",
    "quote of SQL": f"ALTER ROLE ann WITH PASSWORD 'abc''{PASSWORD}';",
    "chpasswd": f"echo ann:{PASSWORD} | chpasswd",
    "file of a shell": f"rsync --password-file=<(echo {PASSWORD}) a b",
    "here string": f"gh auth login --with-token <<< {TOKEN}",
    "rabbitmqctl": f"rabbitmqctl change_password ann {PASSWORD}",
    "htpasswd": f"htpasswd -cb .htpasswd ann {PASSWORD}",
    "useradd": f"useradd -p '{PASSWORD}' ann",
    "net use": rf"net use Z: \\srv\share {PASSWORD} /user:CORP\ann",
    "vault login": f"vault login {TOKEN}",
    "HTTPBasicAuth": f"auth=HTTPBasicAuth('ann', '{PASSWORD}')",
    "pair of requests": f"requests.get(url, auth=('ann', '{PASSWORD}'))",
    "connect by position": f"pymysql.connect('db', 'ann', '{PASSWORD}', 'shop')",
    "secure string": f'ConvertTo-SecureString "{PASSWORD}" -AsPlainText',
    "credentials": f"credentials: ann / {PASSWORD}",
    "rpcauth": f"rpcauth=ann:{PASSWORD}",
    "network device": f"username ann privilege 15 secret 5 {PASSWORD}",
    "SNMP": f"snmpwalk -v2c -c {PASSWORD} 10.0.0.1",
    "unseal key": f"Unseal Key 1: {TOKEN}",
    "pre-shared key": f'psk="{PASSWORD}"',
    "FTP": f"USER ann\n331 next\nPASS {PASSWORD}",
    "IMAP": f"a1 LOGIN ann {PASSWORD}",
    "EZConnect": f"ann/{PASSWORD}@//db:1521/ORCL",
    "pw": f"pw: {PASSWORD}",
    "pin": "pin=851675",
    "table of names": f"| DB_PASSWORD | {PASSWORD} |",
    "entry of XML": f'<entry key="db.password">{PASSWORD}</entry>',
    "prompt": f"Password for ann: {PASSWORD}",
    "sentence of an installer": f"The admin password has been set to {PASSWORD}",
    "wrong password": f"bad password ({PASSWORD})",
    "Rust": f'const PASSWORD: &str = "{PASSWORD}";',
    "name in a forged mark": f"[REDACTED:password={PASSWORD}]",
    "token in a forged mark": f"[REDACTED:tildx/\nsntryu_{TOKEN}{TOKEN}\n\nfailed] [REDACTED:token]",
    "passphrase": "[smtp]\npassword = correct horse battery staple\nport = 25",
    "passphrase in a URL": "jdbc:sqlserver://db;password=correct horse battery staple;encrypt=true",
    "password set to words": "PASSPHRASE is set to 'correct horse hunter battery' here",
    "redis": f"requirepass {PASSWORD}",
    "openssl": f"openssl rsa -passin pass:{PASSWORD}",
    "SQL": f"ALTER ROLE ann WITH PASSWORD '{PASSWORD}';",
    "INSERT": f"INSERT INTO users (name, password) VALUES ('ann', '{PASSWORD}')",
    "element": f"<apiToken>\n  {TOKEN}\n</apiToken>",
    "attribute": f'<add key="Password" value="{PASSWORD}" />',
    "Markdown": f"| user | password |\n|---|---|\n| ann | {PASSWORD} |",
    "psql": f" user | password \n------+----------\n ann  | {PASSWORD}\n\n(1 row)",
    "CSV": f"user,password\nann,{PASSWORD}\n",
    "prose": f"the password is {PASSWORD}",
    "prose, quoted": f"password '{PASSWORD}' rejected for user ann",
    "prose, two words": f"used API key {TOKEN}",
    "two words": f"Secret Access Key: {TOKEN}",
    "Go": f"{{User:ann Password:{PASSWORD} Host:x}}",
    "Java": f"Config{{user=a, password={PASSWORD}, host=x}}",
    "form": f"user=ann&password={quote(PASSWORD)}&x=1",
    "JSON in a URL": "body=" + quote(json.dumps({"password": PASSWORD})),
    "JSON in a URL, twice": quote(quote(json.dumps({"api_key": TOKEN}), safe=""), safe=""),
    "HTML": html.escape(json.dumps({"password": PASSWORD})),
    "escaped by code": r"\u0022password\u0022: \x22" + PASSWORD + r"\x22",
    "colour": f"password=\x1b(B\x1b[31m{PASSWORD}\x1b[0m",
    "invisible in the name": f"pass\u200bword={PASSWORD}",
    "invisible in the value": f"password={PASSWORD[:4]}\u200b{PASSWORD[4:]}",
    "full width": "".join(chr(ord(letter) + 0xFEE0) for letter in "password") + f"={PASSWORD}",
    "other script": f"p\u0430ssword={PASSWORD}",
    "letter that is two in lower case": f"\u0130 password={PASSWORD}",
    "continued line": f"password=\\\n{PASSWORD}",
    "one-time code": "export OTP_CODE=851675",
    "words in one": "-storepass 7hunter2",
    "quoted-printable": f"api_key=3D{TOKEN[:8]}=\n{TOKEN[8:]}",
    "Kubernetes": f"kind: Secret\nmetadata:\n  name: x\ndata:\n  user: YWRtaW4=\n  db_pass: {IN_BASE64}",
    "docker": json.dumps({"auths": {"x": {"auth": IN_BASE64}}}),
    "SMTP": f"AUTH PLAIN {IN_BASE64}",
    "GitHub Actions": f"::add-mask::{PASSWORD}",
    "hash": "ann:$apr1$a1b2c3d4$" + TOKEN,
    "repeated": f"--password {PASSWORD}: login with {PASSWORD} failed",
    "webhook": f"POST https://hooks.slack.com/services/T0{TOKEN}/B0{TOKEN} 404",
    "issued": f"denied: sntryu_{TOKEN}{TOKEN}",
    "issued without a sign": f"denied: LTAI{TOKEN}",
    "issued form": "denied: SK" + "0a" * 16,
    "Discord": "denied: M" + TOKEN + "abc4.Gx2Kq9." + TOKEN + "4c4c4c4c",
    "PEM": f"key -----BEGIN RSA PRIVATE KEY-----\n{KEY}\n-----END RSA PRIVATE KEY----- here",
    "PGP": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{KEY}\n-----END PGP PRIVATE KEY BLOCK-----",
    "PEM in JSON": json.dumps({"k": f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n"}),
    "PEM without its end": f"-----BEGIN PRIVATE KEY-----\n{KEY}",
    "PEM without its beginning": f"{KEY}\n-----END PRIVATE KEY-----",
    "PEM without its beginning, behind a line": f"said:\n{KEY}\n-----END PRIVATE KEY-----",
    "typographic quotes": f"the password \u201c{PASSWORD}\u201d was refused",
    "guillemets": f"mot de passe \u00ab {PASSWORD} \u00bb refus\u00e9",
    "arrow": f"API_TOKEN \u2192 {TOKEN}",
    "table in a frame": f"\u2502 user \u2502 password \u2502\n\u251c\u253c\u2524\n\u2502 ann \u2502 {PASSWORD} \u2502",
    "row of a record": f"-[ RECORD 1 ]\nid       | 7\npassword | {PASSWORD}\n",
    "leader": f"Password ........: {PASSWORD}",
    "brackets": f"user[ann] password[{PASSWORD}]",
    "detail of SQL": f"DETAIL:  Key (api_key)=({TOKEN}) already exists.",
    "as the password": f"Used {PASSWORD} as the password for ann",
    "value of an option": f"error: invalid value '{TOKEN}' for '--token <TOKEN>'",
    "in brackets ahead": f"got {TOKEN} (API key)",
    "changed": f'"DB_PASSWORD" = "hunter2!Ab" -> "{PASSWORD}"',
    "set from nothing": f'"DB_PASSWORD" = "" -> "{PASSWORD}"',
    "option on a line of its own": f"args:\n- --db-password\n- {PASSWORD}",
    "answer of a prompt": f'>>> os.environ["API_TOKEN"]\n{TOKEN}',
    "bold": f"**API key:** {TOKEN}",
    "backticks": f"Set `DB_PASSWORD` to `{PASSWORD}` now",
    "for a user": f"The password for user ann on db7 is {PASSWORD}",
    "Japanese": f"\u30d1\u30b9\u30ef\u30fc\u30c9\u306f\u300c{PASSWORD}\u300d\u3067\u3059",
    "part of a parameter": f'{{"ParameterKey": "DBPassword", "ParameterValue": "{PASSWORD}"}}',
    "pwd in quotes": f"db.createUser({{user: 'ann', pwd: '{PASSWORD}'}})",
    "user and pass": f"user ann pass {PASSWORD}",
    "function of WordPress": f"define('DB_PASSWORD', '{PASSWORD}')",
    "session of Salesforce": "denied: 00DdL0000012Abc!" + TOKEN * 4,
    "PuTTY": f"Private-Lines: 7\n{KEY}\nPrivate-MAC: {'0a' * 20}",
}
CORES = ("horse", PASSWORD, quote(PASSWORD), TOKEN, TOKEN[:8], TOKEN[8:], IN_BASE64, *KEY.split("\n")[:6], "0a" * 16)

KEPT = (
    "ask me for the password",
    "fw-update-failed-on-device-42-again-and-again",
    "--- PASS: TestX400 (0.03s)",
    "first pass: optimize12",
    "pass: 16/727, pass=28",
    "token: Identifier42",
    "auth: ClientV2Handler",
    "auth: scram-sha-256",
    "pwd: project42",
    "$ pwd\n/home/ann/src",
    "Unexpected token: Identifier42",
    "secret app-tls-2024 created",
    "got AdminToken42 (auth)",
    "the token is case2",
    "7f8a9b1c-1111-2222-3333-444455556666 is the key",
    "INFO  BasicPasswordTest: issued",
    "password = (sensitive value)",
    "password: *access_key_name",
    "password: Secret<String>,",
    "ADMIN_PASSWORD -> unset in dev",
    "if not check(password):\n    raise ApiError('x')",
    "if password:\n    digest = salted(x)",
    "gpg: using RSA key 0C3B8CD75D4B1858B8B09097C7E90BFA958683B5",
    "PublicKeyToken=4985a18093a6ceb8, Culture=neutral",
    ': "${DB_PASSPHRASE:?set it}"',
    "has_secure_password :cached_name",
    'read -p "Batch password: " admin_name',
    '{"name": "DB_PASSWORD", "valueFrom": "/dev/x9y8"}',
    "date -u +%Y-%m-%dT%H:%M:%SZ",
    "=== (tokens) ===\n$ token\nweb7:x1",
    "KeyError: 'password'",
    "PASS src/app.test.js",
    "Password for user ann: rejected",
    "LOGIN failed for USER ann, tests PASS",
    "password (optional)",
    "pin: 13",
    "spin=12345 --pw",
    "snmp -c",
    "username required",
    "| password | text | not null |",
    "cat password | base64 | wc",
    "username admin is not in the sudoers file",
    "credentials: file:/etc/x.json",
    "password=$DB_PASSWORD",
    "password = self.cleaned_data.get('password')",
    "password=password",
    "password: must be longer",
    "password is required",
    "PASS=28 WARN=0",
    "--- PASS: TestFail (0.00s)",
    "to rerun pass `--lib`",
    "pass --parallel=1 to use it",
    "('auth', '0010_alter_group_name')",
    "INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.sessions']",
    "Unexpected token: 'then'",
    "identified by its name",
    "Can't locate revision identified by 'ab12'",
    "basic render/1 behavior",
    '{"token": "value"}',
    "next_token=abcdefgh12345678",
    "max_token: 131072000",
    "token_count=12345678 key_id=12345678 password_file=/run/x9",
    "DATABASE_URL: postgres://depot:***@localhost:5432/x",
    "Authorization: Bearer $GITHUB_TOKEN",
    "Authorization: required",
    "Cookie: none",
    "--password --verbose",
    "password=/run/secrets/db",
    "sub-key=12345678, cache key user:123:profile",
    "session_id=61045c3d-2ffd-4c10-925c-c82d72e55ebb",
    "app_session=61045c3d-2ffd-4c10-925c-c82d72e55ebb",
    "commit 4e1243bd22c66e76c2ba9eddc1f91394e57f9f83, sha256:" + "0a" * 32,
    "api_version = 'v1.25.3'; token='2026-11-26 10:00'",
    "103\tlet token\n104\telse",
    "a,password\n\nann,letmein2",
    "a,password\n--,--\nann",
    "<a>key\n</a> password>x",
    "INSERT INTO t (a, b) VALUES ('key', 'hunter2x')",
    "Private-Lines: none",
    "-----BEGIN CERTIFICATE-----",
    "naïve café, “quoted”, 日本語, Москва и область",
    "a\\nb \\\\server\\share 100%25 &amp;",
    "test_hf_hub_download_of_models npm_config_registry_for_all",
    "signature == 'separated'",
    "&amp;amp;amp;amp;amp;amp;quot;",
    *("a,password\nann", f"password {'x' * 500}\nann"),
    "EAACountOfAllWords_in_the_long_list",
    "TASK" + "0a" * 16,
    *("pw: x, pin 4821", "privateKey: Uint8Array;"),
    *("error: 1Password: agent returned an error", "cat: /etc/passwd: Permission denied", 'wantToken: "plain-token",'),
    *("/etc/passwd:root:x:0:0:root:/root:/bin/bash", "passwd: Authentication token manipulation error"),
    *(
        "password: agent returned an error",
        "got session 7846c44836d14ca497beeb4910e2eb20",
        "passwd: unrecognized option",
    ),
    *(
        "component=session session_id=019f80ed-65ac-7eb3-9c28-9885c0fbca91",
        "Session: https://x.example/session_01N2S5w",
    ),
)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in WRITTEN.items()])
def test_secret_is_redacted_however_it_is_written(text: str):
    """No part of the secret that says anything is left."""
    redacted = redact(text)
    assert "[REDACTED:" in redacted
    assert [core for core in CORES if core in redacted] == []


@pytest.mark.parametrize(
    "token",
    [
        "123456789:AA" + "x7Kq9" * 6 + "abcd",
        "123456789012345|" + "x7Kq9" * 6,
        "123456789012345%" + "x7Kq9" * 6,
        "$2b$12$" + "x7Kq9" * 10,
        "{SSHA}x7Kq9x7Kq9x7Kq9=",
        "pbkdf2_sha256$600000$x7Kq9x7Kq9x7Kq9x7Kq9",
        "access_token$production$" + "x7kq9w3b" * 2 + "$" + "0a" * 16,
        "1/123456789012345:" + "0a" * 16,
        "00DdL0000012Abc!" + "x7Kq9" * 12,
        "SharedAccessSignature sr=shop.example%2Fx7Kq9x7Kq9",
    ],
)
def test_each_form_is_found_without_any_other_character(token: str):
    """What a form is searched for by is a part of the form itself."""
    assert "[REDACTED:" in redact(token)


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_a_secret_is_kept(text: str):
    """Placeholders, code, complaints, hashes, uuids, versions, paths and texts in any script stay as they are."""
    assert redact(text) == text


@given(st.lists(st.sampled_from([*WRITTEN.values(), *KEPT, "\n", "\\", "%", "'"]), max_size=4).map(" ".join))
def test_redacting_twice_changes_nothing(text: str):
    """What was put in place of a secret is no secret."""
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("mysql --password=a!b shop", "mysql --password=[REDACTED:password] shop"),
        ("{'a': 1, 'db_password': 'x', 'b': 2}", "{'a': 1, 'db_password': '[REDACTED:password]', 'b': 2}"),
        (r'{"b": "{\"password\": \"a!b\", \"c\": 1}"}', r'{"b": "{\"password\": \"[REDACTED:password]\", \"c\": 1}"}'),
        ("user,password,city\nann,a1b2c3,Rome\n", "user,password,city\nann,[REDACTED:password],Rome\n"),
        (
            "INSERT INTO u (p, password) VALUES (1, 'a!b'), (2, 'c!d');",
            "INSERT INTO u (p, password) VALUES (1, '[REDACTED:password]'), (2, '[REDACTED:password]');",
        ),
        ("INSERT INTO u (password) VALUES ('a!b', 2)", "INSERT INTO u (password) VALUES ('[REDACTED:password]', 2)"),
        ("usuario=shop contrase\u00f1a=luna7 puerto=1", "usuario=shop contrase\u00f1a=[REDACTED:password] puerto=1"),
        ('"Env": ["PASSPHRASE=one two three", "A=b"]', '"Env": ["PASSPHRASE=[REDACTED:password]", "A=b"]'),
        ("'password=a1b2 host=db1'", "'password=[REDACTED:password] host=db1'"),
        ("password: hunter login failed", "password: [REDACTED:password] login failed"),
        ('JWT_SECRET="super-token-of-mine"', 'JWT_SECRET="[REDACTED:secret]"'),
        ("The password is 206833 and", "The password is [REDACTED:password] and"),
        (f"{'x' * 50} password=a1b2c3\nLogin failed", f"{'x' * 50} password=[REDACTED:password]\nLogin failed"),
        ("user  PASSWORD  city\nann   a1b2c3    Rome\n", "user  PASSWORD  city\nann   [REDACTED:password]    Rome\n"),
        ("p\u0430ssword=a!b and \u0430 word", "p\u0430ssword=[REDACTED:password] and \u0430 word"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, redacted: str):
    """Names, quotes, escapes and neighbours are as they were."""
    assert redact(text) == redacted


@pytest.mark.parametrize("width", range(60, 130, 7))
def test_a_secret_broken_at_the_width_of_a_terminal_goes_whole(width: int):
    """Wherever its line is broken, and whether its name, its beginning or its end stands on the next one."""
    line = f"ERROR 2026-01-01 12:00:00 GET https://api.example.com/v1/orders?limit=10 token={TOKEN} status=401"
    wrapped = "\n".join(line[at : at + width] for at in range(0, len(line), width))
    redacted = redact(wrapped)
    assert not any(TOKEN[at : at + 6] in redacted.replace("\n", "") for at in range(4, len(TOKEN) - 6))
    assert redacted.replace("\n", "").endswith(" status=401")


def test_lines_of_one_length_are_not_taken_for_one():
    """Where no secret runs over the end of a line, the next one stays."""
    text = f"{'a' * 58} x\nstatus=401 and more words that follow here in the next line..\nend"
    assert redact(text) == text


def test_lines_behind_a_cut_key_stay():
    """What is a key ends where its lines end; each of several cut keys goes."""
    cut = f"-----BEGIN PRIVATE KEY-----\n{KEY}"
    assert redact(f"{cut}\nstatus=401\n{cut} and {cut}\nKeyError: 'a'") == (
        "[REDACTED:private_key]\nstatus=401\n[REDACTED:private_key] and [REDACTED:private_key]\nKeyError: 'a'"
    )


def test_escapes_within_escapes_end():
    """A text that escapes itself many times is read to a bounded depth."""
    nested = json.dumps({"password": PASSWORD})
    for _ in range(6):
        nested = json.dumps(nested)
    assert len(redact(nested)) <= len(nested) + 20


def test_a_very_long_value_goes_to_its_end():
    """The part that is looked at decides for the rest of it."""
    assert redact(f"password={'x7Kq9' * 80} end") == "password=[REDACTED:password] end"


def test_the_rows_below_a_heading_are_read_up_to_a_bound():
    """Two hundred of them; a table is no place for more."""
    rows = redact("user,password\n" + "".join(f"ann{number},Zx9!kQ{number}w7\n" for number in range(300)))
    assert [row.endswith("[REDACTED:password]") for row in rows.splitlines()[1:]] == [True] * 200 + [False] * 100


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit",
    [
        *("password=", "token: ", "key ", "'", "\\", "%41", "\u200b", "\x1b[", "a,b\n", "user,password\n", "&amp;"),
        *('\\"', "password: error ", "error: password: a b "),
        *("INSERT INTO t (password) VALUES ('", "curl -u ", "https://a:b", "kind: secret data: ", "AUTH ", "mysql "),
        *("Authorization: Digest ", "cookie: a=b;", "Private-Lines: 9\n", "docker login ", "<password ", "= \n", "sk_"),
        *("INTO t (password) VALUES ('a''a'", "'a''a'"),
        *("-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "CREATE ", "password is is ", "tskey-", "s."),
    ],
)
def test_time_grows_with_the_length_of_a_hostile_text(unit: str):
    """Twice the text takes twice the time, whatever is repeated in it."""
    assert grows_linearly(lambda size: partial(redact, (unit * size)[:size]), small=2_100, runs=3)
