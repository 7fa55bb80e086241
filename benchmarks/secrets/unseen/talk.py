"""What people and coding agents write to each other."""

from __future__ import annotations

from benchmarks.secrets import writing as w
from benchmarks.secrets.context import LOGIN, NAMED, SECRETS, TOKENS, Context

# One context on few lines.
# fmt: off
TALK = (
    Context("chat: typographic quotes", "the wifi password is “%V%” – same for guests, ask Bob for the VLAN", ("same for guests", "ask Bob for the VLAN"), takes=SECRETS, forbids="“”"),
    Context("chat: single quotes", "I set the admin password to '%V%' for now and the 500 is gone", ("for now and the 500 is gone",), takes=SECRETS, forbids="'"),
    Context("chat: a parenthesis", "log in with qa-lead (password: %V%) and open the orders page", ("log in with qa-lead", "and open the orders page"), takes=SECRETS, forbids="() "),
    Context("chat: user slash password", "credentials for staging: qa-lead / %V% – the link is https://staging.shop.io/login", ("https://staging.shop.io/login", "for staging"), takes=SECRETS, forbids=" "),
    Context("chat: question and answer", "[10:41] bob: what's the API token for staging?\n[10:41] alice: %V%\n[10:42] bob: thx, works", ("API token for staging?", "thx, works"), takes=TOKENS),
    Context("chat: a promise and a bare key", "sure, use mine for the demo: %V% – I revoke it tonight", ("sure, use mine", "I revoke it tonight"), naming="none", takes=TOKENS),
    Context("chat: keyword and equals", "hey my key=%V% gives 401 since noon, is the gateway down?", ("gives 401 since noon", "is the gateway down?"), takes=TOKENS),
    Context("ticket: steps", "1. Open https://staging.shop.io\n2. Enter user qa-lead and password %V% and press Sign in.\n3. The page stays blank.", ("Enter user qa-lead", "press Sign in", "The page stays blank."), takes=SECRETS, forbids=" "),
    Context("ticket: labels on lines", "Environment: staging\nUser: qa-lead\nPass: %V%\nExpected: dashboard\nActual: blank page", ("User: qa-lead", "Expected: dashboard", "Actual: blank page"), takes=SECRETS),
    Context("ticket: pin", "The tablet at the till unlocks with PIN %V%, then tap Orders twice.", ("The tablet at the till", "then tap Orders twice"), takes=SECRETS, forbids=" ,"),
    Context("mail: welcome", "Hello Alice,\n\nyour account was created. Your temporary password is:\n\n    %V%\n\nPlease change it at your first login.", ("Hello Alice", "change it at your first login"), takes=SECRETS),
    Context("forum: name, space, value", "In the dashboard I set %N% %V% but the build still says it is missing.", ("In the dashboard I set", "still says it is missing"), naming="VARIABLE", forbids=" "),
    Context("forum: name, arrow, value", "Vercel → Settings → Environment:\n%N% → %V%\nNODE_ENV → production", ("Vercel → Settings", "NODE_ENV → production"), naming="VARIABLE", takes=NAMED),
    Context("forum: ASCII arrow", "variables we have in prod\n  STAGE -> prod\n  %N% -> %V%\nanything missing?", ("STAGE -> prod", "anything missing?"), naming="VARIABLE", takes=NAMED),
    Context("forum: name is value", "my %N% is %V% and the org id is 4711", ("the org id is 4711",), naming="VARIABLE", forbids=" "),
    Context("forum: as a variable with spaces", "export %N% = %V%\nbash: export: `=': not a valid identifier", ("not a valid identifier",), naming="VARIABLE", forbids=" "),
    Context("forum: HTML entities", "headers = {&quot;Authorization&quot;: &quot;Bearer %V%&quot;}\nr = requests.get(url, headers=headers)", ("requests.get(url, headers=headers)",), takes=TOKENS, write=w.in_attribute, read=w.unmarked),
    Context("forum: header in prose", "I send Authorization: Basic %V% and get 403 from nginx", ("and get 403 from nginx",), write=w.in_base64("robot:"), read=w.unbased),
    Context("commit message", "Fix the importer\n\nUse the new sandbox token (%V%) until\nthe vendor raises our quota.", ("Fix the importer", "the vendor raises our quota"), takes=TOKENS, forbids="()"),
    Context("code comment", "// TODO remove before release: token is %V% (expires in March)\nfetchOrders(17);", ("TODO remove before release", "expires in March", "fetchOrders(17)"), takes=TOKENS),
    Context("Python comment", '# login: admin, pass: %V%\nclient = connect("db7")', ("login: admin", 'connect("db7")'), takes=SECRETS),
    Context("German: lautet", "Das Passwort für den Testzugang lautet %V% und gilt bis Freitag.", ("Das Passwort für den Testzugang", "gilt bis Freitag"), takes=SECRETS, forbids=" "),
    Context("German: label", "Zugang zum Testsystem\nBenutzername: qa-lead\nKennwort: %V%\nMandant: 100", ("qa-lead", "Mandant: 100"), takes=SECRETS),
    Context("German: quotes", "Bitte mit dem Kennwort „%V%“ anmelden, dann Auftrag 4711 öffnen.", ("anmelden, dann Auftrag 4711",), takes=SECRETS, forbids="„“"),
    Context("French: label", "Compte de test\nIdentifiant : qa-lead\nMot de passe : %V%\nProfil : acheteur", ("qa-lead", "Profil : acheteur"), takes=SECRETS),
    Context("French: sentence", "le mot de passe de la base est « %V% », pensez à le changer", ("pensez à le changer",), takes=SECRETS, forbids="«»"),
    Context("Spanish", "La contraseña nueva es %V% y caduca el viernes.", ("La contraseña nueva es", "caduca el viernes"), takes=SECRETS, forbids=" "),
    Context("Portuguese", "Usuário: qa-lead\nSenha: %V%\nAmbiente: homologação", ("qa-lead", "Ambiente: homologação"), takes=SECRETS),
    Context("Italian", "Utente: qa-lead, password: %V%, reparto: vendite", ("Utente: qa-lead", "reparto: vendite"), takes=SECRETS, forbids=", "),
    Context("Polish", "Login: qa-lead\nHasło: %V%\nŚrodowisko: testowe", ("qa-lead", "testowe"), takes=SECRETS),
    Context("Russian", "Логин: qa-lead\nПароль: %V%\nСтенд: тестовый", ("qa-lead", "Стенд: тестовый"), takes=SECRETS),
    Context("Ukrainian: sentence", "пароль від тестової бази — %V% , порт 5432", ("тестової бази", "порт 5432"), takes=SECRETS, forbids=" "),
    Context("Chinese", "测试账号：qa-lead\n密码：%V%\n环境：预发布", ("qa-lead", "环境：预发布"), takes=SECRETS),
    Context("Chinese: sentence", "数据库密码是 %V% ，端口是 5432", ("端口是 5432",), takes=SECRETS, forbids=" "),
    Context("Japanese", "テスト用のパスワードは「%V%」です。ポートは5432です。", ("ポートは5432です",), takes=SECRETS, forbids="「」"),
    Context("Korean", "아이디: qa-lead\n비밀번호: %V%\n서버: db7", ("qa-lead", "서버: db7"), takes=SECRETS),
    Context("Turkish", "Kullanıcı adı: qa-lead\nŞifre: %V%\nOrtam: test", ("qa-lead", "Ortam: test"), takes=SECRETS),
    Context("Dutch", "Gebruiker: qa-lead\nWachtwoord: %V%\nOmgeving: acceptatie", ("qa-lead", "acceptatie"), takes=SECRETS),
    Context("agent: a command in JSON", '{"type":"tool_use","name":"Bash","input":{"command":"export %N%=%V% && pytest -q tests/api","description":"Run tests"}}', ("pytest -q tests/api", "Run tests"), naming="VARIABLE", takes=LOGIN, forbids="\"\\$&;'# "),
    Context("agent: a file with line numbers", "     2→STAGE=prod\n     3→%N%=%V%\n     4→LOG_LEVEL=info", ("STAGE=prod", "LOG_LEVEL=info"), naming="VARIABLE", takes=NAMED),
    Context("agent: an edit", '{"file_path":"/srv/shop/.env","old_string":"%N%=","new_string":"%N%=%V%\\nPORT=8080"}', ("/srv/shop/.env", "PORT=8080"), naming="VARIABLE", forbids='"\\'),
    Context("agent: it says what it saw", "I read the configuration. The database password is `%V%`, so I tried `psql -h db7` and got a timeout.", ("I read the configuration", "psql -h db7", "got a timeout"), takes=SECRETS, forbids="`"),
    Context("agent: a bullet of findings", "Findings:\n- `config/prod.yml` line 12 has a hardcoded secret (`%V%`)\n- `README.md` is out of date", ("config/prod.yml", "is out of date"), forbids="`"),
    Context("agent: a memory", "- user's staging login: qa-lead, password %V% (asked on Tuesday)\n- prefers tabs", ("qa-lead", "prefers tabs"), takes=SECRETS, forbids=" "),
    Context("user asks an agent", "use api key %V% and write a script that lists all orders of yesterday", ("write a script that lists all orders of yesterday",), takes=TOKENS),
)
