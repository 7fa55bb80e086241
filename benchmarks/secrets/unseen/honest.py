"""Lines that look as if they held a secret and hold none: one template a line, `⏎` for its line breaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.secrets.forms import fill

if TYPE_CHECKING:
    from random import Random

POOLS = {
    "first": "access|refresh|api|client|device|billing|legacy|remote|mock|session|reset|signing|default|service|admin|user|cached|signed|scoped|bearer|basic",
    "middle": "token|secret|password|credential|auth|key|passphrase|cookie|login|certificate",
    "last": "provider|store|handler|factory|validator|manager|config|service|error|cache|resolver|policy|parser|rotation|middleware|response|request|test|count|type|name",
    "w": "token|secret|password|credential|passphrase|auth token|private key|cookie|pin|API key|access key",
    "W": "Token|Secret|Password|Credential|Passphrase|Cookie|Authorization|ApiKey|AccessKey",
    "o": "order|cart|invoice|user|device|report|parcel|voucher|basket|customer|refund|batch|tenant|webhook|coupon",
    "O": "Order|Cart|Invoice|User|Device|Report|Parcel|Voucher|Basket|Customer|Refund|Batch|Tenant|Webhook|Coupon",
    "u": "alice|bob|deploy|svc_shop|qa-lead|robot|postgres|root|carol|jenkins|www-data|admin",
    "H": "db7.internal|api.shop.io|10.2.0.9|git.shop.io|registry.shop.io|web3|localhost|mail.shop.io|idp.corp.net|cache-02",
    "e": "staging|production|dev|qa|eu-west-1|canary|preview|sandbox|us-east-2",
    "f": "src/auth/|internal/token/|app/models/|lib/crypto/|tests/unit/|pkg/secrets/|web/session/|core/keys/",
    "x": "py|ts|go|rs|java|rb|kt|php|cs|js",
}
"""Words of a field; `T`, `t`, `s`, `S` and `k` are a name in the cases of identifiers."""

TESTS = r"""
--- PASS: Test«T»«n» (0.«digits:2»s)
--- FAIL: Test«T»/«s»_«n» (0.00s)
=== RUN   Test«T»/expired_«w»_is_rejected#«digits:2»
ok  	git.shop.io/core/«s»	0.«digits:3»s
--- SKIP: Test«T» (0.00s)⏎    «s»_test.go:«n»: needs a «w» provider
first pass: optimize«n»
second pass: inline«n», fold«n»
pass: «n»/«n» key rotation
pass «n» of 3: «s»
PASS src/«k».test.«x» («n» ms)
PASS  tests/auth/«T».spec.ts
FAIL  tests/auth/«T».spec.ts > rejects «w» number «n»
  ✓ «t» returns the «w» of the «o» («n» ms)
  ✕ should not log the «w» when «o» «n» fails
  ● «T» › validates «w» › «o»
tests/test_«s».py::test_«s»[«o»-«n»] PASSED                    [ «digits:2»%]
tests/test_«s».py::Test«T»::test_«w»_is_masked FAILED
FAILED tests/test_«s».py::test_«s» - AssertionError: assert '«w»' in ['«o»', '«s»']
E       AssertionError: assert «T»(ttl=«n») == «T»(ttl=«n»)
E       KeyError: '«s»'
E       TypeError: «s»() missing 1 required positional argument: '«s»'
test «s»::tests::«s» ... ok
test auth::«s» ... FAILED
test result: ok. «n» passed; 0 failed; «digits:1» ignored; finished in 0.«digits:2»s
[ RUN      ] «T».Rejects«O»«n»
[       OK ] «T».Rejects«O» («n» ms)
[  FAILED  ] «T».«W»Expires (0 ms)
[INFO] Running com.shop.auth.«T»
[ERROR] «T».«t»:«n» expected:<«n»> but was:<«n»>
Tests run: «n», Failures: 1, Errors: 0, Skipped: 0 -- in com.shop.«T»
com.shop.auth.«T» > «t»() PASSED
com.shop.auth.«T» > «t»[«n»] FAILED
  Scenario: «O» signs in with a wrong password           # features/login.feature:«n»
    Then the password field shows "«o» required"
    Given a «w» for «o» «n»
ok «n» - «s» keeps the «w» out of logs
not ok «n» - «t»: «w» expected
# Subtest: «t» rejects «w»
1) «T» when the «w» is blank raises «O»Error
rspec ./spec/models/«s»_spec.rb:«n» # «T» rejects a short password
.....F..«digits:1» examples, 1 failure in «s»_spec
  Passed «T».«t» [«n» ms]
  Failed Shop.Auth.Tests.«T».«t»(«w»: «n»)
Passed!  - Failed: 0, Passed: «n», Skipped: 0, Total: «n» - «T».dll
XCTAssertEqual failed: ("«n»") is not equal to ("«n»") - «t»
Test Case '-[ShopTests.«T» test«W»Expires]' passed (0.«digits:3» seconds).
Test Suite '«T»' started at «d» «h».«digits:3»
PHPUnit: «T»::test«W»With data set #«n»
1) Tests\Auth\«T»::test_«s»
  «n» pass, 1 fail, «n» assertions in «t».test
bun test «k».test.ts: (pass) «t» > «w» [«digits:1».«digits:2»ms]
(fail) «T» > returns 401 without «w» [«n».«digits:2»ms]
  test «s» (0.«digits:1»ms)
  1) test «w» expires after «n» minutes (Shop.«T»Test)
Doctest: shop.«s» line «n» ... pass
pass=«n» fail=0 skip=«n» suite=«s»
Result: PASS («n» tests, «s»)
coverage: «f»«s».«x»   «n»   «digits:1»   9«digits:1»%
BenchmarkNew«T»-8   	  «n»000	      «n»1 ns/op	     «n» B/op
Bench «s»: «n».«digits:2» ns/iter (+/- «n»)
snapshot «t» › matches «w» «n» obsolete
Expected: "«t»"⏎Received: "«t»"
expect(«t».type).toBe('«T»')
    assert.equal(«t».length, «n»)
assert_eq!(tokens.len(), «n», "«s»");
ASSERT_EQ(«t»(), k«T»);
mock «t» called with («o»«n», «T»)
flaky: «s» passed on attempt «digits:1» of 3
retrying test «s» («digits:1»/3): «w» service not ready
test_password_reset_«o»_«n» (auth.tests.«T».test_password_reset_«o») ... ok
WARN  «n» tests skipped: «w» backend unavailable («s»)
cypress: ✓ shows password strength for «o» («n»ms)
Given password rules, when «o» types «n» characters, then the meter is red
TAP version 13⏎1..«n»⏎ok 1 - «s» token
"""

SOURCE = r'''
token: Identifier«n»
auth: ClientV«n»Handler
token: «T»
secret: «T» | None = None
password: str = Field(min_length=«n», description="«s»")
self.token = «t»(«s»)
self._«s» = «s» or default_«s»
def «s»(token: str, secret: bytes, ttl: int = «n») -> «T»:
def get_«s»(self, password: SecretStr) -> «T» | None:
    return «T»(token=«t», auth=«s», key=lambda «o»: «o».id)
password = getpass.getpass("«O» password: ")
token = os.environ["«S»"]
token = os.environ.get("«S»", None)
secret = settings.«S»
SECRET_KEY = config("«S»")
api_key = load_«s»(path="«f»«s».json")
if not «s».check_password(password):⏎    raise «T»("«o»")
with pytest.raises(«T», match="token expired after «n»"):
assert token.kind is TokenKind.«S»
tokens = tokenizer.encode(«s», max_length=«n»)
token_ids = [«n», «n», «n», «n»]
for token in «s».tokens[:«n»]:
class «T»(Base«W»Mixin, «T»):
class «T»:⏎    """Keep the «w» of one «o»."""⏎    token: «T»⏎    expires: int = «n»
    password = models.CharField(max_length=«n», blank=«True|False»)
    token = serializers.CharField(write_only=True, max_length=«n»)
key = (lambda «o»: «o».«s»)
sorted(«s», key=attrgetter("«s»"))
auth = HTTPBasicAuth(«s», «s»)
raise «T»(f"no {token} for {«s»}")
logger.info("token for %s is valid until %s", «s», «s»)
print(f"password has {len(password)} of «n» characters")
secrets.token_urlsafe(«n»)
secret = secrets.token_hex(«n»)
hashlib.pbkdf2_hmac("sha256", password.encode(), salt, «n»000)
bcrypt.checkpw(password.encode(), «s».password_hash)
from «s».tokens import «T», «t»
import { «T», «t» } from './auth/«k»';
import com.shop.security.«T»;
const token = await «t»(«t»);
const token = req.headers.authorization?.split(' ')[«digits:1»];
const { token, «t» } = use«T»();
let password = document.querySelector('#«k»').value;
export interface «T» {⏎  token: string;⏎  secret?: «T»;⏎  «t»: number;⏎}
type «T» = { password: string; «t»: «T» };
  token: «T»['«t»'];
  accessToken: «t» as string,
  password: z.string().min(«n»),
  apiKey: process.env.«S»,
  secret: process.env.«S» ?? '',
  auth: { type: '«t»', required: true },
  Authorization: `Bearer ${«t»}`,
headers.set('Authorization', `Bearer ${await «t»()}`);
headers: { 'x-api-key': «t» },
throw new «T»('Invalid password for «o»');
if (token !== «t») return res.status(«n»).end();
this.token = this.«t».token;
<input type="password" name="«s»" autocomplete="current-password" />
<input type="password" id="«k»" minlength="«n»" required>
<label for="«k»">Password («n» characters or more)</label>
<«T» token={«t»} onChange={«t»} />
<PasswordField value={«t»} label="«O» password" />
useEffect(() => { if (!token) «t»(); }, [token, «t»]);
it('stores the «w» of «o» «n»', async () => {
jest.mock('../auth/«k»', () => ({ token: jest.fn(), «t»: jest.fn() }));
func (c *Client) «T»(ctx context.Context, token string) (*«T», error) {
	Token  «T» `json:"token,omitempty" yaml:"«t»"`
	Password string `json:"password" validate:"min=«n»"`
	Secret *«T»
	token, err := c.«t»(ctx, «t»)
	if token.Type != «T» {
	return fmt.Errorf("parse token %q: %w", «t», err)
	auth := smtp.PlainAuth("", «t», password, "«H»")
	os.Getenv("«S»")
	case token.«T», token.«O»:
	{name: "«w» of «o»", token: «t», want: «n»},
type «T» struct {⏎	token   *«T»⏎	secrets map[string]«T»⏎	ttl     int // «n»⏎}
pub fn «s»(token: &str, secret: Option<«T»>) -> Result<«T», Error> {
    pub token: «T»,
    password: Secret<String>,
    let token = «T»::from_env("«S»")?;
    Token::«T»(«s») => self.«s»(«s»),
    auth: Arc<«T»>,
#[derive(Debug)]⏎struct «T» {⏎    key: «T»,⏎    token: Token,⏎}
    let key = Key::<Aes256Gcm>::from_slice(&«s»);
impl From<«T»> for Token {
error[E0«digits:3»]: cannot move out of `self.token` which is behind a shared reference («s».rs:«n»)
private final String password; // «t»
public «T»(String token, char[] password, int «t») {
@Value("${«o».auth.token}") private String «t»;
@Param password the password of the «o» («n» at most)
    String token = request.getHeader("X-«O»-Token");
    if (StringUtils.isBlank(password)) throw new «T»("«o»");
  Optional<Token> «t» = tokenRepository.findBy«O»Id(«n»L);
  passwordEncoder.matches(rawPassword, «t».getPassword());
 * @param token the «w» of the «o», never null («n»)
 * @return the «t», or null when the password is wrong
 * {@link «T»#«t»(Token)} checks the key
data class «T»(val token: String, val password: String?, val «t»: Int = «n»)
val token: String by lazy { «t»() }
val secret = requireNotNull(«t») { "«o» has no secret" }
fun «t»(password: CharArray): «T» = «T»(password)
var token: «T»? { get set }
public string Password { get; set; } // «T»
public required «T» Token { get; init; }
[JsonPropertyName("«s»")] public string? Token { get; set; }
var token = await _«t».GetTokenAsync(cancellationToken);
services.AddSingleton<ITokenProvider, «T»>();
options.Password.RequiredLength = «n»;
if (string.IsNullOrEmpty(password)) throw new «T»(nameof(password));
Task<«T»> «T»Async(CancellationToken token = default);
CancellationToken token = «t».Token;
$token = $this->«t»->getToken();
protected $hidden = ['password', '«s»'];
'password' => 'required|string|min:«n»',
'secret' => env('«S»'),
public function «t»(string $password, ?«T» $token = null): «T»
Hash::check($request->password, $«t»->password)
<?php if (!password_verify($password, $«s»)) { «t»(); }
  attr_accessor :token, :password, :«s»
  has_secure_password :«s»
  validates :password, length: { minimum: «n» }
  token = «T».find_by(«s»: params[:token])
  before_action :authenticate_«o»!, except: [:«s»]
  def «s»(token:, secret: nil)
  filter_parameters += [:password, :«s»]
defmodule Shop.«T» do⏎  @token_ttl «n»⏎  def token(%«T»{} = «s»), do: «s».token⏎end
(defn «k» [token password] (assoc token :«k» «n»))
data Token = Tok«T» | Tok«O» Int deriving (Show)
parseToken :: Parser «T»
static int parse_token(struct «s» *tok, const char *secret);
#define «S»_TOKEN_MAX «n»
#define TOKEN_«S» 0x«HEX:4»
enum token_type { TOK_«S», TOK_«S» = «n» };
std::string token_; // «t»
const std::unique_ptr<«T»> token = make«T»(«n»);
void set_password(std::string_view password, «T» key);
token->kind = TK_«S»;
yylval.token = «S»; return TOKEN;
%token <«s»> «S» «S»
%token «S» «n» "«k»"
key: «T»Key(«n»),
credential: «T».«t»,
credentials := credentials.New«T»("«e»")
auth = «T»(«s»)
auth: «t»
pwd := filepath.Join(base, "«k»")
pass: «T».«t»(«n»)
passwd = pwd.getpwnam("«u»")
let auth = «T».auth()
final String? token = await «t».getIdToken();
Future<«T»> signIn({required String email, required String password}) async {
TextField(obscureText: true, decoration: InputDecoration(labelText: 'Password «n»'))
SecureField("«O» password", text: $«t»)
let token = keychain["«k»"]
guard let token = «t».token else { throw «T».missing«W» }
local token = ngx.var["cookie_«s»"]
my ($token, $password) = @_; # «s»
sub «s» { my $token = shift; return $token->{«s»}; }
if [ -z "$«S»" ]; then echo "«S» is not set"; exit «digits:1»; fi
: "${«S»:?set it to your token}"
export «S»="$(cat /run/secrets/«s»)"
export «S»=$(pass show shop/«k»)
export «S»="${«S»}"
TOKEN=$(gh auth token --user «u»)
curl -H "Authorization: Bearer $TOKEN" https://«H»/v1/«o»s?limit=«n»
curl -u "$USER:$PASSWORD" https://«H»/«k»
docker login -u «u» --password-stdin «H» < ~/.«k»
echo "$«S»" | docker login --username «u» --password-stdin
read -r -s -p "«O» password: " «s»
mysql -h «H» -u «u» -p «o»s
psql "host=«H» user=«u» dbname=«o»s sslmode=require"
ssh -i ~/.ssh/«s» «u»@«H»
gpg --batch --passphrase-fd «digits:1» --decrypt «k».gpg
openssl rand -base64 «n» > «k».txt
openssl pkcs12 -in «k».p12 -passin env:«S»
kubectl create secret generic «k» --from-file=«s»=./«k».txt
kubectl get secret «k» -o jsonpath='{.data.«s»}'
vault kv get -field=password secret/«o»/«k»
aws secretsmanager get-secret-value --secret-id «e»/«k»
gcloud secrets versions access latest --secret=«k» --project=shop-«e»
az keyvault secret list --vault-name shop-«e»-«n»
op read op://«e»/«k»/password
sops -d secrets/«e».yaml | yq .«t»
ansible-vault edit group_vars/«e»/«s».yml --vault-password-file ~/.«k»
terraform apply -var-file=«e».tfvars -var token_ttl=«n»
helm upgrade shop ./chart --set auth.existingSecret=«k» --set auth.enabled=true,replicas=«n»
npm token list --registry https://«H»/«k»
git config credential.helper 'cache --timeout=«n»'
git commit -m "Rotate the «w» of «o»s (#«n»)"
$ pwd⏎/home/«u»/src/«k»
$ pwd && ls⏎/srv/«k»/«s»⏎README.md  secrets.example.yml
PWD=/home/«u»/«k»
OLDPWD=/srv/«o»/«k»
Get-Location # pwd: C:\src\«T»
$cred = Get-Credential -UserName «u» -Message "«O»"
$token = $env:«S»
[SecureString]$Password = Read-Host -AsSecureString "«O» password"
param([Parameter(Mandatory)][securestring]$«T», [string]$Token)
ConvertTo-SecureString $«T» -AsPlainText -Force
set «S»=%«S»%
'''

TOOLS = r"""
SyntaxError: Unexpected token '«}|)|;|,|<»' («k».js:«n»:«digits:2»)
SyntaxError: Unexpected token < in JSON at position «n»
Uncaught SyntaxError: Invalid or unexpected token at «t» («k».js:«n»)
error TS1005: «f»«k».ts:«n» ';' expected near token '«t»'
error TS2339: Property 'token' does not exist on type '«T»'.
error TS2345: Argument of type 'string | undefined' is not assignable to parameter 'password' of type '«T»'.
error TS2741: Property 'secret' is missing in type '«T»' but required in type '«T»'.
«f»«s».c:«n»:«digits:2»: error: expected identifier before '«s»' token
«f»«s».cpp:«n»: error: 'token' was not declared in this scope; did you mean '«s»'?
«f»«s».c:«n»:8: warning: unused variable 'password' [-Wunused-variable]
error: expected one of `,` or `}`, found `«s»`⏎ --> src/token.rs:«n»:«digits:2»
error[E0560]: struct `«T»` has no field named `token`
error[E0425]: cannot find value `secret_«s»` in this scope
warning: field `token` is never read⏎  --> src/«s».rs:«n»:5
./«s».go:«n»:«digits:2»: syntax error: unexpected token «s», expected }
./«s».go:«n»:2: undefined: auth.«T»
./«s».go:«n»: token declared and not used
«T».java:[«n»,«digits:2»] cannot find symbol: variable token
«T».cs(«n»,«digits:2»): error CS0103: The name 'password' does not exist in the current context
«T».kt:«n»:«digits:2» Unresolved reference: token
parse error near token «S» at line «n»
yaml: line «n»: found character that cannot start any token
mapping values are not allowed here: line «n», key «s»
jq: error: syntax error, unexpected INVALID_CHARACTER at token «s»
ERROR:  syntax error at or near "password" at character «n»
ERROR:  column "«s»" of relation "«o»s" does not exist
ERROR:  unterminated quoted string at or near token "«s»"
FATAL:  password authentication failed for user "«u»"
FATAL:  no pg_hba.conf entry for host "10.2.0.«digits:2»", user "«u»", database "«o»s"
ERROR 1045 (28000): Access denied for user '«u»'@'«H»' (using password: «YES|NO»)
ORA-«digits:5»: invalid username/password; logon denied
fe_sendauth: no password supplied («u»@«H»)
redis.exceptions.AuthenticationError: invalid password for «u» («n»)
MongoServerError: Authentication failed («T»)
fatal: Authentication failed for 'https://«H»/«o»/«k».git/'
remote: Invalid username or password («n»)
fatal: could not read Password for 'https://«u»@«H»': terminal prompts disabled
«u»@«H»: Permission denied (publickey,password).
Enter passphrase for key '/home/«u»/.ssh/«s»':
«u»@«H»'s password:
[sudo] password for «u»:
Password for user «u»:
sudo: «n» incorrect password attempts
passwd: password updated successfully for «u» («n»)
Token expired at «d»T«h»Z for client «k»
token refreshed in «n» ms for «u»
token «k» not found
token count: «n»
tokens: «n»
total_tokens=«n» prompt_tokens=«n» completion_tokens=«n»
max_tokens=«n» temperature=0.«digits:1»
usage: input_tokens: «n», output_tokens: «n», cache_read: «n»
{"usage":{"prompt_tokens":«n»,"completion_tokens":«n»,"total_tokens":«n»}}
context window: «n»000 tokens, used «n»
rate limit: «n»000 tokens per minute, retry in «digits:2»s
auth: success for «u» from 10.2.0.«digits:2» in «n» ms
auth: method=password user=«u» result=ok took=«n»ms
auth=ok user=«u» session=new ttl=«n»
auth.«s»: enabled
login ok user=«u» ip=10.2.«digits:2».«digits:2» mfa=true
Accepted publickey for «u» from 10.2.0.«digits:2» port «digits:5» ssh2: ED25519 SHA256:«b64:43»
Accepted password for «u» from 10.2.0.«digits:2» port «digits:5» ssh2
Failed password for invalid user «u» from 10.«digits:2».0.9 port «digits:5» ssh2
pam_unix(sshd:auth): authentication failure; logname= uid=0 user=«u» rhost=10.2.0.«digits:2»
session opened for user «u»(uid=«n») by (uid=0)
INFO  c.s.auth.«T» - password changed for «u», «n» sessions closed
INFO  «T»: issued token type=refresh ttl=«n»s scope=«o»:read
DEBUG o.s.security.web.«T» - Did not match request to password endpoint «n»
WARN  «T» secret rotation due in «n» days
WARN  password of «u» expires in «n» days
level=info msg="token cache warmed" entries=«n» took=«n»ms
level=warn msg="no secret found" name=«k» namespace=«e»
level=error msg="token source failed" source=«k» attempt=«digits:1»
time="«d»T«h»Z" level=info msg="secret synced" secret=«k»
{"level":"info","event":"login","user":"«u»","password_ok":true,"ms":«n»}
{"msg":"token verified","kid":"«k»","alg":"RS256","ms":«n»}
{"error":"invalid_token","error_description":"The access token expired","retry":«n»}
{"error":"invalid_grant","hint":"«s»","status":«n»}
{"token_type":"Bearer","expires_in":«n»,"scope":"«o»:read"}
{"name":"password","type":"string","required":true,"maxLength":«n»}
{"key":"«s»","value":«n»}
{"auth":{"enabled":true,"provider":"«k»"}}
{"password":null,"attempts":«n»}
{"secret":"","token":"","n":«n»}
{"apiKey":"<redacted>","region":"«e»","n":«n»}
WWW-Authenticate: Bearer realm="«k»", error="invalid_token"
WWW-Authenticate: Basic realm="«O» «n»"
< X-RateLimit-Remaining-Tokens: «n»
> Authorization: [«redacted|REDACTED|FILTERED|masked»] («n» bytes)
< set-cookie: lang=de; Path=/; Max-Age=«n»
Access-Control-Allow-Headers: Authorization, X-«O»-Token
Vary: Authorization, X-«O»-Key
HTTP/1.1 401 Unauthorized («n» bytes)
403 Forbidden: token lacks scope «o»:«read|write|admin»
Response 401: {"message":"Bad credentials «n»"}
#«n» [internal] load auth token for «H»/«k»
secret/«k» created
secret "«k»" deleted
Error from server (NotFound): secrets "«k»" not found
Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:«e»:«u»" cannot list resource "secrets"
NAME  TYPE  DATA  AGE⏎«k»   Opaque   «digits:1»   «n»d
«k»-token-«b36:5»   kubernetes.io/service-account-token   3   «n»d
  Warning  FailedMount  «n»s  kubelet  MountVolume.SetUp failed for volume "«k»" : secret "«k»" not found
    Mounts:      /var/run/secrets/«s» from «k» (ro)
      «S»:  <set to the key '«s»' in secret '«k»'>  Optional: false
        secretKeyRef:⏎          name: «k»⏎          key: «s»
imagePullSecrets:⏎- name: «k»
Tokens:              «k»-token-«b36:5»
  + password                = (sensitive value) # «s»
  ~ secret_id               = "«k»" -> (known after apply)
  + token_ttl               = «n»
      + key_name              = "«k»"
  # aws_secretsmanager_secret.«s» will be created
  # random_password.«s» must be replaced
  + resource "random_password" "«s»" {⏎      + length = «n»⏎      + result = (sensitive value)⏎    }
Error: Reference to undeclared input variable "«s»"
│ Error: error configuring «O» provider: no valid credential sources found («n»)
ok: [«H»] => (item=None) # «s»
fatal: [«H»]: UNREACHABLE! => {"msg": "Invalid/incorrect password: Permission denied", "unreachable": true, "n": «n»}
TASK [«s» : create «w» file] *******************
fatal: [«H»]: FAILED! => {"censored": "the output has been hidden due to 'no_log: true'", "n": «n»}
Masking ***«s»*** in the log
***«n» secrets masked***
Run actions/create-github-app-token@v«digits:1» with app-id «n»
  «S»: ***
  GITHUB_TOKEN: *** # step «n»
  with: token: *** ref: «k»
##[error]Input required and not supplied: token («k»)
##[warning]The `set-output` token command is deprecated: «s»
$ export «S»=[MASKED]
Unable to locate credentials. You can configure credentials by running "aws configure" («e»)
An error occurred (ExpiredToken) when calling the «T» operation
An error occurred (InvalidClientTokenId) when calling the Get«O» operation: The security token included in the request is invalid
ERROR: (gcloud.auth.«k») There was a problem refreshing your current auth tokens
AADSTS«digits:6»: The provided client secret keys are expired. Visit the portal of app «k».
npm ERR! code E401⏎npm ERR! Unable to authenticate, need: Basic realm="«k»"
npm ERR! need auth This command requires you to be logged in to https://«H»/«k»
yarn: YN0041: «k»: Invalid authentication (as an anonymous user)
pip: 401 Error, Credentials not correct for https://«H»/simple/«k»/
twine: HTTPError: 403 Forbidden Invalid API Token: «s»
cargo: error: no token found, please run `cargo login` or use environment variable «S»
docker: denied: requested access to the resource is denied: «H»/«k»
unauthorized: authentication required, token scope «o»:pull («n»)
eslint: «f»«k».js «n»:«digits:2»  warning  'token' is assigned a value but never used  no-unused-vars
eslint: «n»:7  error  'password' is defined but never used  @typescript-eslint/no-unused-vars
«f»«s».py:«n»:5: F841 Local variable `token` is assigned to but never used
«f»«s».py:«n»:1: S105 Possible hardcoded password assigned to: "«s»"
«f»«s».py:«n»: error: Argument "token" to "«s»" has incompatible type "None"; expected "str"  [arg-type]
«f»«s».py:«n»:«digits:2» - error: "token" is not a known attribute of "None" (reportOptionalMemberAccess)
«f»«s».py:«n»: error: Missing return type for "get_password"  [no-untyped-def]
pylint: «f»«s».py:«n»:4: W0621: Redefining name 'password' from outer scope
rubocop: «f»«s».rb:«n»:3: C: Naming/PredicateName: Rename has_token?
golangci-lint: «s».go:«n»:2: G101: Potential hardcoded credentials (gosec) in «t»
shellcheck: In «k».sh line «n»: SC2034: TOKEN appears unused
bandit: Issue: [B106:hardcoded_password_funcarg] «f»«s».py:«n»
phpstan: Line «n» Parameter #1 $token of method «T»::«t»() expects string, null given.
  File "«f»«s».py", line «n», in get_token⏎    token = self.«s».token
  at «T».«t» (/srv/auth/«k».js:«n»:«digits:2»)
	at com.shop.auth.«T».«t»(«T».java:«n»)
   at Shop.Auth.«T».«T»(String token, String password) in /src/«T».cs:line «n»
#«n» /var/www/vendor/auth/«T».php(«n»): Auth\«T»->«t»()
«s».rb:«n»:in `token': undefined method `«s»' for nil (NoMethodError)
panic: runtime error: index out of range [«n»] with length «digits:2»⏎auth.(*«T»).Token(0xc000«hex:6»)
thread 'main' panicked at 'no token', src/«s».rs:«n»:«digits:1»
KeyError: '«S»'
RuntimeError: Environment variable «S» is missing
ValueError: token must be «n» characters
«T»: Token is invalid or expired («n»)
jwt.exceptions.ExpiredSignatureError: Signature has expired («n»s ago)
jsonwebtoken: JsonWebTokenError: jwt malformed at «t»:«n»
io.jsonwebtoken.«T»: JWT expired «n» ms ago
Caused by: com.shop.«T»: wrong password for keystore «k».jks
keytool error: java.io.IOException: keystore password was incorrect («k»)
javax.net.ssl.SSLHandshakeException: PKIX path building failed for key «k»
x509: certificate signed by unknown authority (key «k», «n» days)
gpg: signing failed: No secret key «HEX:16»
gpg: using RSA key «HEX:40»
sec   rsa4096/«HEX:16» «d» [SC]
error: gpg failed to sign the data: key «HEX:16» not found
token ring: node «n» owns «digits:2»%
Cassandra: «n» tokens for node 10.2.0.«digits:2»
lexer: «n» tokens in «n» us, last token «S»
[parser] token=«S» line=«n» col=«digits:2»
next token: «S»
got token «S», want token «S»
unexpected token: «t»
expecting token: '«{|(|[|=>»' before «t»
PASS «s»: «n» ok
pass: true, score: 0.«digits:2»
pass rate: «digits:2».«digits:1»% («n»/«n»)
password strength: «weak|fair|good|strong» («n» bits)
password policy: min «n», max 128, history «digits:1»
password_encryption = scram-sha-256 # line «n»
password last changed: «d»
PasswordLastSet : «d» «h»
Password expires             «d»
AccountPasswordAge: «n» days
SecretVersion «n» is now AWSCURRENT
Secret «k» has «n» versions
credential helper '«k»' failed with exit status «n»
credential.helper=«k»
credentials file ~/.«k»/credentials not found
no credentials for «H», trying anonymous («n»)
using credentials of profile «e»
authorization: granted role=«o»-admin in «n» ms
Authorization header is missing (request «n»)
Authorization: denied for «u» on /«o»s/«n»
key «k» not found in cache
key: «o»:«n»
key=«o»:«n»:items ttl=«n»
cache key: «k»-«e»-«v»
primary key: «s»
foreign key «s»_fk references «o»s(id)
sort key: «s», partition key: «o»#«n»
partition_key=«o»-«n» offset=«n»
idempotency key reused for «o» «n»
keyboard: key «F5|Escape|Enter» pressed «n» times
key press: ctrl+«lower:1» -> «t»
unknown key "«s»" in «e».toml
duplicate key '«s»' at line «n»
"""

IDS = r"""
commit «hex:40»
commit «hex:40» (HEAD -> «k», tag: v«v»)
index «hex:7»..«hex:7» 100644
diff --git a/«f»token.«x» b/«f»token.«x»⏎index «hex:11»..«hex:11» 100644⏎--- a/«f»token.«x»⏎+++ b/«f»token.«x»
«hex:40» refs/heads/«k»
«hex:40»	refs/tags/v«v»
«hex:7» Rotate «w» of «o»s (#«n»)
«hex:9» (HEAD -> main) Hide the «w» in «s»
[«k» «hex:7»] Drop the «w» of «o»s
Merge: «hex:7» «hex:7»
From «hex:40» Mon Sep 17 00:00:00 2001
   «hex:7»..«hex:7»  «k» -> origin/«k»
HEAD is now at «hex:7» Add «s»
fatal: bad object «hex:40»
submodule path 'vendor/«k»': checked out '«hex:40»'
^«hex:7» («u» «d» «n») token = self.«s»
Digest: sha256:«hex:64»
«k»: digest: sha256:«hex:64» size: «n»
FROM «k»:«v»@sha256:«hex:64»
Status: Downloaded newer image for «H»/«k»@sha256:«hex:64»
Successfully built «hex:12»
 ---> «hex:12»
 ---> Running in «hex:12»
«hex:12»   «H»/«k»:«v»   "/entrypoint.sh «s»"   «n» hours ago   Up
#«n» sha256:«hex:64» «n».«digits:2»MB / «n».«digits:2»MB
#«n» exporting manifest sha256:«hex:64» done
Deleted: sha256:«hex:64»
containerd: imageID=sha256:«hex:64» name=«k»
/nix/store/«b36:32»-«k»-«v»
/nix/store/«b36:32»-token-«v».drv
  got:    sha256-«base64:32»
  hash = "sha256-«base64:32»"; # «k»
error: hash mismatch in fixed-output derivation '/nix/store/«b36:32»-«k».drv':
cargoHash = "sha256-«base64:32»";
      "integrity": "sha512-«base64:64»",
  integrity sha512-«base64:64»
  resolution: {integrity: sha512-«base64:64»}
<script src="/«k».js" integrity="sha384-«base64:48»" crossorigin="anonymous"></script>
      "resolved": "https://registry.npmjs.org/«k»/-/«k»-«v».tgz",
"checksum": "«hex:64»"
checksum = "«hex:64»"
    --hash=sha256:«hex:64» \
«k»==«v» --hash=sha256:«hex:64»
{file = "«s»-«v».tar.gz", hash = "sha256:«hex:64»"},
git.shop.io/«k» v«v» h1:«base64:32»
git.shop.io/«k» v«v»/go.mod h1:«base64:32»
github.com/«k»/«s» v0.0.0-«digits:14»-«hex:12»
SHA256 («k»-«v».tar.gz) = «hex:64»
«hex:64»  «k»-«v».tar.gz
«hex:32» *«s».bin
MD5: «hex:32»  SHA1: «hex:40»
ETag: "«hex:32»"
etag: W/"«hex:2»-«b64:27»"
"etag": "\"«hex:32»\"", "key": "«k».csv"
x-request-id: «uuid»
x-amz-request-id: «B36:16»
x-amz-id-2: «base64:57»
trace_id=«hex:32» span_id=«hex:16» «s»
traceparent: 00-«hex:32»-«hex:16»-01
"requestId": "«uuid»", "path": "/«o»s"
RequestId: «uuid» Duration: «n» ms
correlationId=«uuid» user=«u»
Build ID: «uuid»
build id «hex:40» («k»)
BuildID[sha1]=«hex:40», stripped («s»)
Build UUID: «uuid» («s»)
UUID: «uuid» (arm64) «k»
/dev/sda«digits:1»: UUID="«uuid»" TYPE="ext4" PARTLABEL="«k»"
job «uuid» queued for «o»
deployment «k»-«hex:10» scaled to «digits:1»
pod/«k»-«hex:9»-«b36:5»   1/1   Running   0   «n»m
event «uuid»: «o».created
order «uuid» paid in «n» ms
tenant-«uuid»/«s».json
arn:aws:secretsmanager:eu-west-1:«digits:12»:secret:«k»
arn:aws:kms:eu-west-1:«digits:12»:key/«uuid»
arn:aws:iam::«digits:12»:role/«k»
projects/shop-«e»/secrets/«k»/versions/«n»
https://shop-«e».vault.azure.net/secrets/«k»/«hex:32»
/subscriptions/«uuid»/resourceGroups/shop-«e»/providers/Microsoft.KeyVault/vaults/«k»
i-0«hex:16» running «k»
vpc-0«hex:16», subnet-0«hex:16» in «e»
ami-0«hex:16» («k»)
sg-0«hex:16» allows 5432 from «H»
«digits:12».dkr.ecr.eu-west-1.amazonaws.com/«k»:«v»
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAA«b64:40»
background: url(data:image/gif;base64,R0lGODlh«b64:60»)
<img src="data:image/svg+xml;base64,PHN2Zy«b64:54»" alt="«k»">
logo_base64 = "iVBORw0KGgo«b64:60»"
//# sourceMappingURL=«k».js.map?v=«hex:8»
dist/assets/«k»-«url:8».js   «n».«digits:2» kB │ gzip: «n».«digits:2» kB
chunk-«B36:8».js | «k» | «n».«digits:2» kB
static/js/«n».«hex:8».chunk.js
_next/static/«url:21»/_buildManifest.js «n»
webpack compiled «hex:20» in «n» ms
asset token.«hex:20».js «n» KiB [emitted] [immutable]
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64:43» «u»@«H»
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ«b64:90» «u»@«H»
«H» ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64:43»
256 SHA256:«b64:43» «u»@«H» (ED25519)
The key fingerprint is: SHA256:«b64:43» «u»@«H»
ED25519 key fingerprint is SHA256:«b64:43».
RSA key fingerprint is MD5:«hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2»
public key: age1«b36:58»
SHA256 Fingerprint=«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»
serial=«HEX:32» subject=CN=«H»
X509v3 Subject Key Identifier: «HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»
    keyid:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2»:«HEX:2» («k»)
kid: "«k»-«d»"
jwks: loaded «digits:1» keys from https://«H»/.well-known/jwks.json («n» ms)
0x«hex:40» transferred «n» wei
block «digits:8» hash 0x«hex:64»
object at 0x7f«hex:10» of type «T»
<auth.«T» object at 0x7f«hex:10»>
«T»@«hex:8»
com.shop.auth.Token@«hex:7»
goroutine «n» [running]: auth.(*«T»).Token(0xc000«hex:6», {0x«hex:6», 0x«digits:2»})
00000«hex:3»: «hex:4» «hex:4» «hex:4» «hex:4» «hex:4» «hex:4» «hex:4» «hex:4»  .token..
tx «hex:64» confirmed
merkle root «hex:64» at «n»
ipfs://bafybei«b36:52»
md5sum mismatch: expected «hex:32», got «hex:32» for «k»
cache hit: Linux-node-modules-«hex:64»
Cache restored from key: Linux-«k»-«hex:64»
cache key node-«v»-«hex:40» not found
Saved cache with key «k»-«hex:16» («n» MB)
run_id: «digits:10», attempt «digits:1», key «k»
pipeline #«digits:9» for «hex:8» passed («k»)
artifact «k» (ID «digits:10») SHA256 «hex:64»
version GUID {«uuid»} of «T»
CLSID {«uuid»} «T» not registered (0x80040154)
PublicKeyToken=«hex:16», Culture=neutral, Version=«v».0
Could not load file or assembly '«T», Version=«v».0, Culture=neutral, PublicKeyToken=«hex:16»'
migration «digits:14»_add_token_to_«o»s: migrated (0.0«digits:2»s)
revision = "«hex:12»"  # add password to «o»s
Running upgrade «hex:12» -> «hex:12», add «s»
V«digits:1»__add_«s».sql checksum «digits:9»
inode «digits:8» token.«x»
dep «k» v«v» (https://«H»/«k»#«hex:8»)
"rev": "«hex:40»", "narHash": "sha256-«base64:32»"
ref: refs/heads/«k» sha «hex:40»
sentry: event «hex:32» sent («o»)
release «k»@«v»+«hex:7» created
"""

CONFIG = r"""
«S»=
«S»=<your-token>
«S»=<your-«k»-here>
«S»=${«S»}
«S»="${«S»:-}"
«S»=****
«S»=xxxxxxxx
«S»=$(«s»)
«S»="" # fill in before «n»
«S»: ${{ secrets.«S» }}
«S»: "{{ .Values.«t».password }}"
«S»={{ «s» }}
export «S»=...
# «S»=
; «s» = (none)
«s»: null
«s»: ""
«s» = ""
«s» = none
«s»: !vault |  # «n»
«s»: !Ref «T»
«s» = var.«s»
«s» = data.aws_secretsmanager_secret_version.«s».secret_string
«s» = random_password.«s».result
password = var.«s»["«k»"]
password: "{{ vault_«s» }}"
password: "{{ lookup('env', '«S»') }}"
password: ${«S»}
password: <%= ENV["«S»"] %>
password: *«s»
password: !secret «s»
password: (unchanged) # «n»
password = %(«s»)s
password: "<password of «o»>"
password: '********' # «e»
passwordFile: /run/secrets/«s»
password_file = "/etc/«k»/«s»"
password-hash-rounds: «n»
passwordMinLength: «n»
passwordRequired: «true|false» # «s»
secretName: «k»
secret_name = "«k»"
secretRef: «k»-«e»
existingSecret: «k»
secretKey: «s» # name of the key in the secret
secret: {secretName: «k», defaultMode: 0«digits:3»}
secrets: [«s», «s»]
secrets:⏎  «s»:⏎    file: ./secrets/«s».txt
secrets:⏎  «s»:⏎    external: true
token-ttl: «n»m
token_file: /var/run/secrets/tokens/«k»
tokenExpiry = «n»
token.endpoint=https://«H»/oauth2/token
token_url: https://«H»/realms/«o»/protocol/openid-connect/token
tokenUrl: https://«H»/«k»/token
tokenType: «T»
tokenizer: «k»
tokenizer = AutoTokenizer.from_pretrained("shop/«k»")
token_budget: «n»
token-bucket: «k», rate «n»/s
auth: «none|basic|oauth2|ldap|saml» # «s»
auth_type = «s»
auth.provider=«k»
authMethod: «T»
auth_basic "«O» «n»";
auth_basic_user_file /etc/nginx/«k»;
authenticator: «T»
authenticationDatabase: «o»s_«n»
authorizationUrl: https://«H»/«k»/authorize
oauth2: {clientId: «k», scopes: [«o»:read]}
credentialsId: '«k»'
withCredentials([usernamePassword(credentialsId: '«k»', usernameVariable: 'U', passwordVariable: '«S»')])
credentials: inherit # «k»
credentials_path = "~/.config/«k»/credentials.json"
keyAlias «k»
key_alias = "«k»"
keyName: «k»
key_path: /etc/ssl/private/«k».key
ssl_certificate_key /etc/nginx/ssl/«k».key;
ssl_key_file = '/var/lib/«s».key'
sshKeyPath: ~/.ssh/«s»
IdentityFile ~/.ssh/«s»
AuthorizedKeysFile .ssh/authorized_keys_«s»
PasswordAuthentication «yes|no» # «H»
PermitRootLogin prohibit-password # «n»
MaxAuthTries «n»
PubkeyAuthentication yes # «H»
signingKey = «hex:8» # id of the public key of «u»
signing.keyId=«HEX:8»
storeFile=../keystore/«k».jks
api_key_header: X-«O»-Key
apiKeyEnv: «S»
api_key: env:«S»
apiKeyPrefix: «O»
api-key-name: «k»
access_key_rotation_days = «n»
kms_key_id: alias/«k»
kms_key_id = "arn:aws:kms:eu-west-1:«digits:12»:alias/«k»"
encryption: {provider: «k», keySize: «n»}
encryption_key_length = «n»
session_cookie_name = "«s»"
SESSION_COOKIE_AGE = «n»
SESSION_COOKIE_NAME = "«s»"
cookie: {secure: true, maxAge: «n»}
cookie-name: «k»
csrf_token_name = '«s»'
<meta name="csrf-param" content="«s»">
<add key="«T»" value="" />
<password></password><!-- «s» -->
<password>${env.«S»}</password>
<Password>[«hidden|redacted|none»]</Password> <!-- «n» -->
<secret name="«k»"/>
<xs:element name="password" type="xs:string" minOccurs="«digits:1»"/>
<property name="token" ref="«t»"/>
<bean id="«t»" class="com.shop.auth.«T»"/>
<key>NS«T»UsageDescription</key>
<string name="password_hint_«n»">At least «n» characters</string>
<string name="«s»">Forgot your password?</string>
"password": { "type": "string", "minLength": «n» }
"password": "string",  // «t»
"token": "«T»",
"token": "${«S»}",
"token": "<«k»>",
"secret": "projects/shop/secrets/«k»",
"secretOptions": [{"name": "«S»", "valueFrom": "/«e»/«k»"}],
"apiKey": "YOUR_«S»",
"auth": "«t»",
"required": ["«s»", "password", "«t»"],
"scripts": { "token:«k»": "node scripts/«k».js" },
"«k»-token": "^«v»",
"dependencies": { "«k»": "~«v»" },
"description": "Rotates the «w» of each «o» («n»)",
"editor.tokenColorCustomizations": { "«t»": «n» },
"semanticTokenScopes": [{ "language": "«x»", "scopes": { "«t»": ["«k»"] } }],
name: «k»-token-«e»
kind: SecretStore # «k»
kind: Secret⏎metadata:⏎  name: «k»⏎  namespace: «e»⏎type: Opaque
- id: detect-private-key # «n»
- uses: shop/«k»-token@v«v»
on: [push] # token «n»
permissions: { id-token: write, contents: read } # «k»
CREATE TABLE «s» (id bigint primary key, password text not null, token varchar(«n»));
ALTER TABLE «o»s ADD COLUMN password_hash varchar(«n») NOT NULL;
ALTER TABLE «o»s DROP COLUMN «s»_token;
CREATE INDEX «s»_token_idx ON «o»s (token);
CREATE UNIQUE INDEX idx_«s» ON «o»s (api_key, «s»);
SELECT id, password, token FROM «o»s WHERE «s» = $1 LIMIT «n»;
SELECT count(*) FROM «o»s WHERE password IS NULL AND id > «n»;
UPDATE «o»s SET password = $1, token = $2 WHERE id = «n»;
UPDATE «o»s SET token = NULL WHERE «s» < now();
INSERT INTO «o»s (email, password) VALUES ($1, $2) RETURNING «s»;
INSERT INTO «s» (token, secret) VALUES (:token, :secret);
DELETE FROM «s»_tokens WHERE expires_at < '«d»';
GRANT SELECT (id, «s») ON «o»s TO «u»;
REVOKE ALL ON «s»_secrets FROM «u»;
CREATE ROLE «s» LOGIN PASSWORD NULL;
ALTER USER «s» PASSWORD EXPIRE;
CREATE USER «s» IDENTIFIED EXTERNALLY;
DROP USER IF EXISTS '«s»'@'%';
 password      | character varying(«n») |           | not null |
 «s»_token | uuid                   |           |          | gen_random_uuid()
| password | varchar(«n») | NO   |     | NULL    |       |
|-- token: string (nullable = «true|false») «n»
password  VARCHAR2(«n») NOT NULL, -- «s»
t.string "«s»_digest", limit: «n»
add_column :«o»s, :«s»_token, :string
https://«H»/auth/token?grant_type=client_credentials&n=«n»
https://«H»/password/reset
GET /v1/«o»s/tokens?limit=«n» 200
POST /oauth/token 401 «n»ms
POST /api/«o»s/password/reset HTTP/1.1" 204 «n»
DELETE /api/tokens/«n» 404
postgresql://«H»:5432/«o»s?sslmode=require&n=«n»
postgres://«u»@«H»/«s»
postgres://«u»:${«S»}@«H»/«o»s
https://«u»@«H»/«k».git
https://${«S»}@«H»/«k».git
git@«H»:«o»/«k».git
ssh://git@«H»:7999/«o»/«k».git
amqp://«H»:5672/«k»
redis://«H»:6379/«digits:1»?name=«s»
mongodb://«H»:27017/«s»?authSource=admin
jdbc:postgresql://«H»:5432/«s»?user=«u»
smtp://«H»:587/?auth=«s»
Server=«H»;Database=«T»;Integrated Security=true
Server=tcp:«H»,1433;Authentication=Active Directory Default;Database=«T»
"""

PROSE = r"""
  --token TOKEN         «w» for the «o» service (env: «S»)
  --token <TOKEN>       API token [env: «S»=] [default: none]
  --password PASSWORD   password of the «o» (default: ask), at most «n» characters
  --password-stdin      read the password of the «o» from stdin («n»)
  -p, --password        prompt for the password of the «k»
  -p, --pass string     password for «H» (default "")
  --auth-type string    one of basic, bearer, «k» (default "none")
  --secret-file path    file with the secret of the «o» (default "/etc/«k»")
  --api-key-env NAME    variable that holds the key (default: «S»)
  --key-size int        bits of the key (default «n»)
  --credentials FILE    credentials of «k»
  --max-tokens <n>      stop after so many tokens (default: «n»)
  --no-password         never prompt for the password of «k»
  -W, --password        force password prompt (should happen automatically) «n»
  /P password           the password of «T»
usage: «k» [-h] [--token TOKEN] [--secret SECRET] «s»
usage: «k» login --user USER --password PASSWORD [--«k»]
Usage: «k» auth token create <name> [--ttl «n»h]
error: the following arguments are required: --token, --«k»
error: unknown option '--«k»-token'
error: option --password requires an argument («s»)
Error: required flag(s) "token", "«k»" not set
Error: flag needs an argument: --«k»
error: unexpected argument '--«k»' found; tip: a similar argument exists: '--token'
Commands: auth, token, secret, «k»
Available auth methods: «k», password, «k»
Set «S» to the token of your «o».
Set the «S» environment variable before you run «k».
You need a «w» to call the «o» service; ask «u».
Your password must have at least «n» characters.
The password must not contain the name of the «o».
The token is valid for «n» minutes.
The token of the «o» expires on «d».
The secret was rotated on «d» by «u».
The secret is stored in «k», not in the repository.
The key is the «s» of the «o», and the value its count.
The credentials are in the vault under «e»/«k».
Never commit a «w»: use «S» from the vault.
Please do not paste your «w» here, «u».
Please rotate the «w» of «e» before «d».
I forgot my password for «H», can you reset it?
I lost the token for «k» – can «u» make a new one?
Can someone send me the password for «k» via the vault?
Where is the password for «H» kept?
What is the difference between a «w» and a «w» in «k»?
How do I pass the token to «k»?
How to pass secret to «t» in «e»?
My token is missing the «o»:write scope.
My password is not accepted on «H» since «d».
the password is wrong for «u», the log says «n» attempts
the password is required by «T»
the password is hashed with bcrypt, cost «n»
the token is missing in «n» of «n» requests
the token is read from «S»
the secret is that «k» is cached for «n» s
the api key is optional for «o»s
password reset mail sent to «u»@shop.io («n»)
password reset for «u» took «n» ms
Password incorrect. «n» attempts left.
Password changed successfully for «u» on «d».
Password updated by «u» via «k»
Password protected: «s».zip
Password manager: «k» «v»
Password hashing moved to «T» in v«v»
Forgot password? Write to «u»@shop.io
Token bucket holds «n» requests
Token refresh fails on «e» since v«v»
Token validation moved from «T» to «T»
Token: expired («n» s ago)
Token: present («n» chars)
Token: not set («S»)
Token type: bearer, ttl «n»
Token name: «k»
Secret: mounted from «k»
Secret rotation is planned for «d»
Secrets of «e»: «n» in use, «digits:1» stale
Secret scanning found 0 secrets in «n» files
Auth: «T» handles the login since v«v»
Auth: none («k»)
Auth module split in «T» and «T»
Login as «u», then open https://«H»/«o»s/«n».
Log in with your company account, user «u», no password needed («n»)
Sign in with the password you chose for «H».
PIN entry failed «digits:1» times on till «n»
PIN pad «n» offline
pin: gpio«digits:2» → «k»
pin «digits:2» of connector J«n» carries the reset line
key takeaways of «d»: «k» first
key: lower is better («s», «n»)
Key findings: «n» slow queries in «s»
The key point: «t» runs «n» times.
API key management moved to /settings/«k»
API keys: «n» active, «digits:1» revoked
passport control opens at «digits:2»:30, gate «n»
passing «n» arguments to «t»
bypass: «k» skipped «n» checks
compass: «k» schema has «n» fields
two-pass encoding: pass «digits:1»/2, «n» fps
render pass: «T»
boarding pass for «d», seat «n»A
bus pass costs «n» euros
secretary: «u», minutes of «d»
authors: «u», «u», «u» («n»)
author: «u» <«u»@shop.io>
Author: «u» <«u»@shop.io>⏎Date:   «d» «h» +0100
Authored-by: «u», key «k»
authority: «H»:«n»
tokenization of «n» cards took «n» ms
tokens per second: «n».«digits:2»
monkey patch of «T» in «s»
turkey: «n» kg, «d»
keynote: «d», room «n»
keyword: «k»
hotkey: ctrl+«lower:1» runs «t»
passion project «k»: «n» stars
Fix the «w» leak in «t» (#«n»)
Add password strength meter to «k» (#«n»)
feat(auth): support «k» tokens
fix(token): do not refresh «o»s twice
chore(deps): bump «k» from «v» to «v»
refactor(secrets)!: rename «s» to «s»
docs: say how «S» is read
test(auth): cover «t»
revert: "«w» rotation for «o»s" (#«n»)
- [ ] rotate «w» of «e»
- [x] remove password login from «k»
## «W» rotation of «O»s («d»)
### Token «T»
> The password of «o»s is checked in «t».
| «S» | token of the «o» service | required |
| `«s»` | string | The «w» of the «o». |
| --«k» | token lifetime in seconds | «n» |
`token` (`str`): the «w» of the «o», «n» characters
`«t»(password)` throws «T» when the password is short.
See [«W» rotation](docs/«k».md#token).
.. envvar:: «S»⏎⏎   The token of the «o».
:param token: the «w» of the «o» («s»)
:param password: password of «s», or None
@param {string} password - Password of the «o» («t»)
/// The token of the «o»; see `«T»`.
//! Secrets of «s» are zeroed on drop («n»).
-- | Parse one token of «T».
# token bucket for «s»
# TODO: read the password from «S»
// FIXME token is refreshed «n» times in «t»
/* secret: never log «s» */
; auth settings of «k»
REM password prompt of «k»
<!-- password policy of «k» -->
The assistant used «n» tokens for «k».
I updated the password validation in `«f»«s».«x»` and ran the tests.
I'll add a `token` parameter to `«t»` and pass it to `«T»`.
Next I check whether `«S»` is read by `«t»`.
The test fails since `«t».token` is undefined («f»«k».ts:«n»).
Let me look at how «T» passes the token to «T».
Das Passwort muss mindestens «n» Zeichen haben.
Das Passwort für «H» bitte bei «u» erfragen.
Das Passwort ist falsch, noch «n» Versuche.
Das Passwort läuft am «d» ab.
Passwort vergessen? Schreiben Sie an «u»@shop.io
Passwort geändert am «d»
Kennwort: nicht gesetzt («k»)
Der Schlüssel «k» wurde nicht gefunden.
Der Schlüssel liegt bei «u», Raum «n».
Das Token ist seit «n» Minuten abgelaufen.
Zugangsdaten für «e» stehen im Tresor unter «k».
Anmeldung als «u» erfolgreich («n» ms)
Geheimnis «k» ist nicht vorhanden
Le mot de passe doit contenir au moins «n» caractères.
Le mot de passe est incorrect (essai «n»).
Mot de passe oublié ? Contactez «u»@shop.io
Le jeton de «k» a expiré le «d».
La clé «s» est introuvable («n»).
Clé primaire : «s»
Authentification réussie pour «u» en «n» ms
La contraseña debe tener al menos «n» caracteres.
La contraseña es incorrecta, quedan «n» intentos.
Contraseña caducada el «d» para «u»
La clave «s» no existe en «k».
El token de «k» caduca en «n» minutos.
A senha deve ter pelo menos «n» caracteres.
Senha alterada por «u» em «d»
A chave «s» não foi encontrada («n»).
La password deve contenere almeno «n» caratteri.
Password errata per «u», tentativo «n»
Hasło musi mieć co najmniej «n» znaków.
Hasło wygasa «d» («u»)
Пароль должен содержать не менее «n» символов.
Пароль для «u» изменён «d»
Токен «k» истёк «n» минут назад.
Ключ «s» не найден в «k».
Пароль має містити щонайменше «n» символів.
密码长度至少为 «n» 个字符
密码错误，还剩 «n» 次机会
令牌 «k» 已过期 («n» 秒)
密钥 «s» 不存在
パスワードは«n»文字以上にしてください
トークン «k» の有効期限が切れました («n»)
パスワードを変更しました: «u» («d»)
비밀번호는 «n»자 이상이어야 합니다
비밀번호 변경됨: «u» «d»
Şifre en az «n» karakter olmalıdır.
Şifre değiştirildi: «u», «d»
Het wachtwoord moet minstens «n» tekens lang zijn.
Wachtwoord vergeten? Mail «u»@shop.io
Lösenordet måste ha minst «n» tecken.
Adgangskoden udløber «d» for «u»
"""

MORE = r"""
«d»T«h»Z INFO  auth «T» ready in «n» ms
«d» «h»,«digits:3» DEBUG token cache size «n»
«d» «h» [main] INFO «T» - token endpoint https://«H»/token
[«d» «h»] production.INFO: password reset requested {"user_id":«n»}
«h» web3 sshd[«n»]: Connection closed by authenticating user «u» 10.2.0.9 port «digits:5» [preauth]
I0102 «h».«digits:6»   «n» token_controller.go:«n»] "Synced secret" name="«k»"
E0102 «h».«digits:6»   «n» authentication.go:«n»] "Unable to authenticate the request" err="token lookup failed"
W «h» keyring: no password for «u»@«H»
nginx: [emerg] cannot load certificate key "/etc/ssl/«k».key": PEM_read_bio_PrivateKey() failed
postfix/smtpd[«n»]: warning: «H»: SASL LOGIN authentication failed: authentication failure
dovecot: auth: passwd-file(«u»,10.2.0.«digits:2»): unknown user
kernel: audit: type=1100 msg=audit(«digits:10».«digits:3»:«n»): op=PAM:authentication acct="«u»" res=success
type=USER_AUTH msg=audit(«digits:10».«digits:3»:«n»): pid=«n» uid=0 acct="«u»" res=failed
EventID 4625: An account failed to log on. Account Name: «u» Logon Type: «digits:1»
LogonType=«digits:1» AuthenticationPackage=«Kerberos|NTLM|Negotiate» User=«u» n=«n»
klist: Credentials cache 'KEYRING:persistent:«n»:«n»' not found
kinit: Password incorrect while getting initial credentials («u»@CORP.NET, «n»)
ldap_bind: Invalid credentials (49) dn: uid=«u»,ou=«o»s,dc=corp
ldapsearch -x -W -D uid=«u»,ou=«o»s,dc=corp -b dc=corp "(cn=«k»)"
Keycloak: client '«k»' has no secret configured
keycloak: type=LOGIN_ERROR, realmId=«o», clientId=«k», error=invalid_user_credentials
vault: permission denied on secret/data/«k» («n»)
Key              Value⏎---              -----⏎token_duration   «n»h⏎token_renewable  true⏎token_policies   ["«k»"]
lease_id        database/creds/«k»
token_policies      ["default" "«k»"]
vault token lookup: ttl «n»h«digits:2»m
Login Succeeded for «u» at «H»
Logged in as «u» on https://«H»/ («n»).
Logging in to «H» as «u»... done in «n» ms
✓ Authenticated as «u» (token from «S»)
✔ Token verified («n» ms)
✗ No token in «S»
→ token: resolved from keychain item “«k»”
- Token scopes: '«o»:read', '«o»:write', 'n«n»'
X  Using token from environment («S»)
github.com⏎  ✓ Logged in to github.com account «u» (keyring)⏎  - Token scopes: 'repo', '«k»'
remote: Permission to «o»/«k».git denied to «u».
remote: error: GH013: Repository rule violations found: push of «k» blocked, secret scanning
gitleaks: «n» commits scanned, no leaks found in «k»
trufflehog: scan of «k» finished, 0 verified, 0 unverified, «n» chunks
detect-secrets: «k».json baseline has «n» entries
pre-commit: Detect hardcoded secrets ................ Passed («n» files)
Renovate: hostRules for «H» has no token («n»)
dependabot: «k» bumped in /auth («v» → «v»)
sonar: S2068 «f»«s».«x»:«n» "password" detected here, review this potentially hard-coded credential
CodeQL: Clear-text logging of sensitive information: password in «f»«s».«x»:«n»
snyk: ✗ Use of Hardcoded Credentials in «f»«s».«x», line «n»
semgrep: «f»«s».«x»:«n» jwt-hardcoded? no: variable «t»
mypy: «s».py:«n»: note: Revealed type is "auth.«T»"
hint: `token` is a field, `«s»` a method («f»«s».rs:«n»)
help: consider borrowing: `&self.token.«s»` («n»)
   |⏎«n» |     let token = self.«s».next();⏎   |         ^^^^^ help: prefix with underscore: `_token`
«n» |   const token = await «t»();
> «n» |   password: «T»;⏎     |             ^
+    token: «T»,
-    password = «s»(password)
+  "token": «t»,
@@ -«n»,7 +«n»,9 @@ class «T»: def token(self):
- auth: «T»⏎+ auth: «T»
- key: «k»⏎+ key: «k»
! password field moved to «t»
«n»:    token = «t»();
«n»→    password: «T»,
«f»«s».«x»:«n»:    token = «t»(«s»)
«f»«s».«x»:«n»:  secret_«s» := «t»
«f»«s».«x»-«n»-  // password of the «o»
«f»token_«s».«x»
«f»password_reset/«s».«x»
secrets/«e»/«k».enc.yaml
rw-r--r-- 1 «u» «u» «n» «d» «s»_token.«x»
-rw------- 1 «u» «u» «n» Jan  «digits:1» 03:04 .«k»-credentials
drwx------ «digits:1» «u» «u» 4096 «d» secrets-«k»
├── token.«x»⏎├── password_«s».«x»⏎└── auth/«k».«x»
 «f»token.«x»    | «n» ++++----
 create mode 100644 «f»password_«s».«x»
M	«f»token_«s».«x»
?? secrets/«k».example.yml
On branch «k»-token⏎nothing to commit, working tree clean
Switched to branch 'rotate-password-«n»'
Counting «s» tokens: 100% («n»/«n»), done.
added «n» packages, and audited «n» packages in «digits:1»s # jsonwebtoken «v»
«k»@«v» requires jsonwebtoken@^«v»
├── jsonwebtoken@«v»⏎├── csrf-tokens@«v»⏎└── password-hash-«k»@«v»
Installing collected packages: secretstorage, keyring, «k»
Requirement already satisfied: keyring>=«v» in ./venv («k»)
Collecting oauthlib==«v»⏎  Downloading oauthlib-«v»-py3-none-any.whl («n» kB)
   Compiling secrecy v«v»
   Compiling token-«k» v«v» (/srv/«k»)
go: downloading golang.org/x/oauth2 v«v»
go: added git.shop.io/auth/«k» v«v»
Fetching devise-token-«k» «v»
  - Installing tymon/jwt-auth (v«v»): Extracting archive «n»
> Task :auth:compile«T»Java UP-TO-DATE
> Task :token-«k»:test FAILED
[INFO] Building auth-token-«k» «v» [«n»/«n»]
[INFO] --- auth:«v»:generate (token-«s») @ «k» ---
CMake Warning: Manually-specified variables were not used: «S»_TOKEN
-- Found OpenSSL: libcrypto.so (found version "«v»"), key size «n»
  CC      security/keys/«s».o
ld: undefined reference to `«s»_password_cb'
dyld: Symbol not found: _«s»_token (referenced from «k»)
Linking CXX executable token_«s»_test [«digits:2»%]
xcodebuild: error: Provisioning profile "«T»" doesn't include signing certificate «n»
▸ Compiling «T».swift («n» of «n»)
error: No signing certificate "iOS Distribution" found for team «B36:10»
Signing Identity:     "Apple Development: «u» («B36:10»)"
> Keystore file '/srv/«k».jks' not found for signing config 'release«n»'.
flutter: TokenExpired in «T».«t» («n»)
E/AuthService(«n»): no token for «T»
D/«T»: token null? true («n»)
adb: device unauthorized, accept the key on «k»
Firebase: No auth token for «T» (auth/«k»).
fastlane: match could not decrypt the repo, password for «k» is missing
CI variable «S» is protected, branch «k» is not
Job failed: secret «S» not available on «e»
Secret «S» is not defined in environment “«e»”
Variables in group '«k»': «S», «S»
Available secrets: «S», «S», «S»
Missing required secrets: «S», «S»
required env: «S» «S»
missing env «S» → see «k».md
«S» is required
«S» → not set
«S» -> unset in «e»
«S» (optional)
«S» must be set
«S» has no default
«S» is deprecated, use «S»
«S» undefined
«S» from vault
«S»,«S»
unset «S»
echo $«S»
printenv «S»
$env:«S»
%«S»%
env.«S»
process.env.«S»
os.getenv("«S»")
System.getenv("«S»")
ENV.fetch("«S»")
std::env::var("«S»")
ARG «S»
ENV «S»_FILE=/run/secrets/«s»
--build-arg «S»
-e «S» -e «S»
--secret id=«s»,env=«S»
RUN --mount=type=secret,id=«s» make «k»
--mount=type=secret,id=«k»
--from-literal=«s»="$«S»"
--set auth.«t»=$«S»
-Dauth.«t»=${«S»}
-H "X-«O»-Token: $«S»"
-H 'Authorization: Bearer <«k»>'
Authorization: Bearer <token> # «k»
Authorization: Bearer {{«t»}}
Authorization: Bearer ${«t»}
Authorization: Bearer ...«n»
Authorization: Basic <base64 of «u»:password>
X-Auth-Token: <«k»>
X-Api-Key: {{«s»}}
Cookie: session=<«k»>
Cookie: lang=«de|fr|en»; theme=«k»
password: <«k»>
password: …«n»
password is <«k»>
token: <«k»>
token: $«S»
token: %«s»%
token: {«t»}
token: @«s»
token: #{«s»}
token: [«s»]
token=<«k»>&n=«n»
token={«t»}
token=%s user=«u»
secret=(hidden) user=«u»
secret «k» (mounted)
pwd: /home/«u»/«k»
pwd -> /srv/«s»
password: required («n» to 64)
password: must be at least «n» characters
password: is too short (minimum is «n» characters)
password: wrong for «u»
password: [FILTERED], commit: «n»
password: *** («n»)
Password: ••••••••  «u»
password confirmation doesn't match for «o» «n»
wrong password: «u» («n»)
secret: true # «s»
token: false # «s»
auth: true, n: «n»
auth: yes # «k»
auth: «T»;
key: true,«n»
credentials: omit, mode: «k»
fetch(url, { credentials: '«include|omit|same-origin»', n: «n» })
axios.defaults.withCredentials = true; // «t»
xsrfCookieName: '«s»', xsrfHeaderName: 'X-«O»-Token',
type="password" placeholder="«O» password («n»+)"
placeholder="Enter your «w» («n»)"
aria-label="«O» password" data-testid="«k»-password"
.password-«k» { width: «n»px; }
#token-«k» > .secret { color: #«hex:6»; }
--color-token-«k»: #«hex:6»;
color: var(--token-«k»);
design token: spacing.«o».«n»
theme tokens: «k» → #«hex:6»
«T».token.«t»
auth.«T».«t»(«n»)
«s».password.«s»
token[«n»]: «s»
token[«n»] = «T»
tokens[«n»] -> («S», "«s»")
Token(type=«S», value='«o»', line=«n»)
Token { kind: «T», span: «n»..«n» }
<Token.«S» "«o»" at «n»>
TokenInfo(type=1 (NAME), string='«s»', start=(«n», 0))
{type: Token.«T», value: '«t»'}
[«S»] token at «n»:«digits:2»
vocab: token id «n» -> '«o»'
special token '<|«s»|>' has id «n»
logprob of token "«o»": -0.«digits:4»
eos_token_id: «n»
pad_token = «s»
bos_token: <«s»>
"""

BLOCKS = (TESTS, SOURCE, TOOLS, IDS, CONFIG, PROSE, MORE)
TEMPLATES = tuple(dict.fromkeys(line for block in BLOCKS for line in block.strip("\n").split("\n")))


def write(template: str, rng: Random) -> str:
    """Return `template` with its fields filled in."""
    return re.sub("«([^»]+)»", lambda field: _value(field[1], rng), template).replace("⏎", "\n")


def _value(field: str, rng: Random) -> str:
    words = [rng.choice(POOLS[each].split("|")) for each in ("first", "middle", "last")]
    titles = [word.title() for word in words]
    made = {
        "T": "".join(titles),
        "t": words[0] + "".join(titles[1:]),
        "s": "_".join(words),
        "S": "_".join(words[:2]).upper(),
        "k": "-".join(words[::2]),
        "n": str(rng.randint(2, 999)),
        "v": ".".join(str(rng.randrange(20)) for _ in range(3)),
        "d": f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "h": ":".join(f"{rng.randrange(top):02}" for top in (24, 60, 60)),
    }
    if field in made:
        return made[field]
    if ":" in field or field == "uuid":
        return fill(f"{{{field}}}", rng)
    return rng.choice(POOLS.get(field, field).split("|"))
