"""Files and documents that programs print: settings, markup, tables, keys of several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.secrets import writing as w
from benchmarks.secrets.context import LOGIN, NAMED, SECRETS, TOKENS, Context

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.secrets.kind import Family

ONLY_BLOCKS: frozenset[Family] = frozenset()


def _each_line(before: str, after: str = "") -> Callable[[str], str]:
    return lambda value: value.replace("\n", f"{after}\n{before}")


# One context on few lines.
# fmt: off
DOCUMENTS = (
    Context("netrc on lines", "machine api.shop.io\n  login robot\n  password %V%\nmachine git.shop.io login ci", ("machine api.shop.io", "login robot", "machine git.shop.io login ci"), forbids=" "),
    Context("pgpass", "$ cat ~/.pgpass\ndb7.internal:5432:orders:deploy:%V%\n$ psql -h db7.internal -U deploy orders", ("db7.internal:5432:orders:deploy", "-U deploy orders"), takes=SECRETS, forbids=":\\"),
    Context(".npmrc", "registry=https://npm.shop.io/\n//npm.shop.io/:_authToken=%V%\nalways-auth=true", ("registry=https://npm.shop.io/", "always-auth=true"), takes=TOKENS),
    Context(".npmrc: password", "//npm.shop.io/:username=robot\n//npm.shop.io/:_password=%V%\n//npm.shop.io/:email=ci@shop.io", ("username=robot", "email=ci@shop.io"), write=w.in_base64(), read=w.unbased),
    Context(".yarnrc.yml", 'npmRegistries:\n  "https://npm.shop.io":\n    npmAlwaysAuth: true\n    npmAuthToken: "%V%"', ("npmAlwaysAuth: true", "https://npm.shop.io"), takes=TOKENS),
    Context("pip.conf", "[global]\nindex-url = https://robot:%V%@pypi.shop.io/simple\ntimeout = 30", ("pypi.shop.io/simple", "timeout = 30"), write=w.in_url, read=w.unquoted),
    Context("my.cnf", '[client]\nuser=shop\npassword="%V%"\nhost=db7', ("user=shop", "host=db7"), takes=SECRETS, forbids='"\\'),
    Context("gradle.properties", "android.useAndroidX=true\nRELEASE_STORE_PASSWORD=%V%\nRELEASE_KEY_ALIAS=upload", ("android.useAndroidX=true", "RELEASE_KEY_ALIAS=upload")),
    Context("build.gradle: signing", "signingConfigs {\n    release {\n        storeFile file('release.jks')\n        storePassword '%V%'\n        keyAlias 'upload'", ("release.jks", "keyAlias 'upload'"), forbids="'\\"),
    Context("settings.xml", "<server>\n  <id>nexus</id>\n  <username>deploy</username>\n  <password>%V%</password>\n</server>", ("<id>nexus</id>", "<username>deploy</username>"), write=w.in_markup, read=w.unmarked),
    Context("nuget.config", '<packageSourceCredentials>\n  <Shop>\n    <add key="Username" value="robot" />\n    <add key="ClearTextPassword" value="%V%" />\n  </Shop>', ('value="robot"', "packageSourceCredentials"), write=w.in_attribute, read=w.unmarked),
    Context("web.config", '<add name="Shop" connectionString="Server=sql02;Database=Shop;User Id=svc_shop;Password=%V%;Encrypt=True" providerName="System.Data.SqlClient" />', ("Server=sql02;Database=Shop", "Encrypt=True", "System.Data.SqlClient"), takes=SECRETS, forbids=";\"&<>'"),
    Context("appsettings.json", '"Smtp": {\n  "Host": "mail.shop.io",\n  "Port": 587,\n  "Password": "%V%"\n},', ("mail.shop.io", "587"), write=w.in_double_quotes, read=w.unescaped),
    Context("strings.xml", '<resources>\n    <string name="app_name">Shop</string>\n    <string name="maps_api_key">%V%</string>\n</resources>', (">Shop</string>", "</resources>"), takes=TOKENS, write=w.in_markup, read=w.unmarked),
    Context("plist", "<dict>\n\t<key>AuthToken</key>\n\t<string>%V%</string>\n\t<key>Host</key>\n\t<string>api.shop.io</string>\n</dict>", ("<key>Host</key>", "api.shop.io"), write=w.in_markup, read=w.unmarked),
    Context("SOAP: WS-Security", '<wsse:UsernameToken>\n  <wsse:Username>shop</wsse:Username>\n  <wsse:Password Type="http://docs.oasis-open.org/wss#PasswordText">%V%</wsse:Password>\n</wsse:UsernameToken>', ("<wsse:Username>shop</wsse:Username>", "#PasswordText"), takes=SECRETS, write=w.in_markup, read=w.unmarked),
    Context("XML-RPC", "<member><name>login</name><value><string>alice</string></value></member>\n<member><name>password</name><value><string>%V%</string></value></member>", (">alice<", "<name>password</name>"), takes=SECRETS, write=w.in_markup, read=w.unmarked),
    Context("Jenkins: config.xml", "<com.shop.Publisher>\n  <url>https://nexus.shop.io</url>\n  <apiToken>%V%</apiToken>\n  <retries>3</retries>\n</com.shop.Publisher>", ("https://nexus.shop.io", "<retries>3</retries>"), write=w.in_markup, read=w.unmarked),
    Context("YAML: folded", "smtp:\n  host: mail.shop.io\n  password: >-\n    %V%\n  port: 587", ("host: mail.shop.io", "port: 587")),
    Context("YAML: name and value", "env:\n- name: LOG_LEVEL\n  value: info\n- name: %N%\n  value: '%V%'", ("LOG_LEVEL", "value: info"), naming="VARIABLE", takes=NAMED, write=w.in_single_quotes, read=w.undoubled),
    Context("YAML: flow", "databases: [{name: orders, host: db7, password: '%V%'}, {name: carts, host: db8}]", ("name: orders, host: db7", "name: carts, host: db8"), takes=SECRETS, write=w.in_single_quotes, read=w.undoubled),
    Context("CloudFormation: parameters", '[{"ParameterKey": "Stage", "ParameterValue": "prod"}, {"ParameterKey": "DBPassword", "ParameterValue": "%V%"}]', ('"ParameterValue": "prod"', "DBPassword"), takes=SECRETS, write=w.in_double_quotes, read=w.unescaped),
    Context("docker config.json", '{\n  "auths": {\n    "registry.shop.io": {\n      "auth": "%V%"\n    }\n  },\n  "credsStore": ""\n}', ("registry.shop.io", "credsStore"), write=w.in_base64("robot:"), read=w.unbased),
    Context(".dockerconfigjson", "stringData:\n  .dockerconfigjson: '{\"auths\":{\"registry.shop.io\":{\"username\":\"robot\",\"password\":\"%V%\"}}}'\ntype: kubernetes.io/dockerconfigjson", ("registry.shop.io", '"username":"robot"', "type: kubernetes.io/dockerconfigjson"), write=w.in_double_quotes, read=w.unescaped, forbids="'"),
    Context("tfvars", 'region = "eu-west-1"\n%N% = "%V%"\nreplicas = 3', ('"eu-west-1"', "replicas = 3"), naming="variable", forbids='"\\'),
    Context("TOML", "[smtp]\nhost = \"mail.shop.io\"\npassword = '''%V%'''\nport = 587", ('"mail.shop.io"', "port = 587"), takes=SECRETS),
    Context("wrangler: vars", '[vars]\nSTAGE = "prod"\n%N% = "%V%"\n[[kv_namespaces]]\nbinding = "CARTS"', ('STAGE = "prod"', 'binding = "CARTS"'), naming="VARIABLE", write=w.in_double_quotes, read=w.unescaped),
    Context("Elixir: config", 'config :shop, Shop.Repo,\n  username: "shop",\n  password: "%V%",\n  hostname: "db7"', ("Shop.Repo", 'hostname: "db7"'), takes=SECRETS, write=w.in_double_quotes, read=w.unescaped),
    Context("supervisord", '[program:shop]\ncommand=/usr/bin/shop\nenvironment=STAGE="prod",%N%="%V%"\nautorestart=true', ("[program:shop]", "autorestart=true"), naming="VARIABLE", forbids='"'),
    Context("wpa_supplicant", 'network={\n    ssid="Shop-Guest"\n    psk="%V%"\n    key_mgmt=WPA-PSK\n}', ("Shop-Guest", "key_mgmt=WPA-PSK"), takes=SECRETS, forbids='"'),
    Context("Dockerfile: ENV", "Step 4/9 : ENV %N% %V%\n ---> Running in 1f2e3d4c5b6a\nStep 5/9 : RUN npm ci", ("Step 4/9 : ENV", "Step 5/9 : RUN npm ci"), naming="VARIABLE", forbids=" "),
    Context("WordPress", "define( 'DB_NAME', 'shop' );\ndefine( 'DB_PASSWORD', '%V%' );\ndefine( 'DB_HOST', 'db7' );", ("'DB_NAME', 'shop'", "'DB_HOST', 'db7'"), takes=LOGIN, write=w.in_backslashed_quotes, read=w.unescaped),
    Context("JavaScript: camel case", "export default {\n  %N%: '%V%',\n  region: 'eu',\n};", ("export default", "region: 'eu'"), naming="camel", write=w.in_backslashed_quotes, read=w.unescaped),
    Context("long options with hyphens", "shopctl sync --region eu --%N%=%V% --dry-run\nshopctl: unknown region", ("--region eu", "--dry-run", "unknown region"), naming="kebab", write=w.in_shell, read=w.unshelled),
    Context("notebook cell", '"source": [\n  "import openai\\n",\n  "client = openai.OpenAI(api_key=\\"%V%\\")\\n",\n  "client.models.list()"\n]', ("import openai", "client.models.list()"), takes=TOKENS, forbids='"\\'),
    Context("CSV of a password manager", "name,url,username,password,note\nERP,https://erp.shop.io,alice,%V%,rotated in May", ("https://erp.shop.io,alice", "rotated in May"), takes=SECRETS, write=w.in_csv, read=w.undoubled),
    Context("spreadsheet: tabs", "System\tLogin\tPassword\tOwner\nERP\talice\t%V%\tfinance\nWiki\tbob\tSSO\tIT", ("ERP\talice", "finance", "Wiki\tbob"), takes=SECRETS),
    Context("spreadsheet: semicolons", "Konto;Benutzer;Passwort;Bemerkung\nERP;alice;%V%;bis Mai", ("ERP;alice", "bis Mai"), takes=SECRETS, forbids=';"'),
    Context("Markdown: a table", "| env | user | password |\n|---|---|---|\n| staging | qa-lead | %V% |\n| prod | ask ops | ask ops |", ("| staging | qa-lead |", "| prod | ask ops"), takes=SECRETS, forbids="|"),
    Context("Markdown: bold label", "## Staging\n\n- **URL:** https://staging.shop.io\n- **Password:** %V%\n- **Owner:** QA", ("https://staging.shop.io", "**Owner:** QA"), takes=SECRETS),
    Context("Markdown: label in backticks", "Set `%N%` to `%V%` and run `make seed`.", ("Set `", "run `make seed`"), naming="VARIABLE", forbids="`"),
    Context("HTML mail", "<tr><td>User</td><td>alice</td></tr>\n<tr><td>Temporary password</td><td><code>%V%</code></td></tr>\n<tr><td>Valid until</td><td>Friday</td></tr>", ("<td>alice</td>", "<td>Friday</td>"), takes=SECRETS, write=w.in_markup, read=w.unmarked),
    Context("HTML: hidden input", '<input type="text" name="login" value="alice">\n<input type="password" name="password" value="%V%" autocomplete="off">', ('value="alice"', 'autocomplete="off"'), takes=SECRETS, write=w.in_attribute, read=w.unmarked),
    Context("key in an indented YAML secret", "stringData:\n  tls.key: |\n    %V%\n  tls.crt: public\ntype: kubernetes.io/tls", ("tls.crt: public", "kubernetes.io/tls"), takes=ONLY_BLOCKS, has_lines=True, write=w.in_block),
    Context("key in a JSON string", '{"kid": "2025-01", "private_key": "%V%", "alg": "RS256"}', ('"kid": "2025-01"', '"alg": "RS256"'), takes=ONLY_BLOCKS, has_lines=True, write=w.in_double_quotes, read=w.unescaped),
    Context("key in a diff", "--- /dev/null\n+++ b/deploy/id_key\n@@ -0,0 +1,20 @@\n+%V%\ndiff --git a/README.md b/README.md", ("+++ b/deploy/id_key", "b/README.md"), takes=ONLY_BLOCKS, has_lines=True, write=_each_line("+")),
    Context("key in a CI log with times", "2025-01-02T03:04:05.100Z $ cat deploy.key\n2025-01-02T03:04:05.101Z %V%\n2025-01-02T03:04:05.102Z exit status 0", ("$ cat deploy.key", "exit status 0"), takes=ONLY_BLOCKS, has_lines=True, write=_each_line("2025-01-02T03:04:05.101Z ")),
    Context("key in compose's log", "vault-1  | writing key\nvault-1  | %V%\napi-1    | listening on 8080", ("writing key", "listening on 8080"), takes=ONLY_BLOCKS, has_lines=True, write=_each_line("vault-1  | ")),
    Context("key in a Java literal", 'String key =\n    "%V%\\n";\nSystem.out.println(key.length());', ("String key =", "key.length()"), takes=ONLY_BLOCKS, has_lines=True, forbids='"', write=_each_line('    + "', '\\n"')),
    Context("key with numbers of lines", "$ cat -n deploy.key\n     1\t%V%\n$ wc -l deploy.key", ("$ cat -n deploy.key", "wc -l deploy.key"), takes=ONLY_BLOCKS, has_lines=True, write=_each_line("     7\t")),
    Context("key in a quoted mail", "> Hi, here is the key you asked for:\n> %V%\n> Regards, Bob\n\nThanks, works!", ("here is the key you asked for", "Regards, Bob", "Thanks, works!"), takes=ONLY_BLOCKS, has_lines=True, write=_each_line("> ")),
    Context("key in a heredoc", "+ cat\n+ cat > /tmp/k <<EOF\n%V%\nEOF\n+ ssh -i /tmp/k deploy@web3", ("+ ssh -i /tmp/k deploy@web3",), takes=ONLY_BLOCKS, has_lines=True),
)
