"""Keys and tokens of issuers, in the forms that their documentation gives."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote

from benchmarks.secrets.forms import ALPHABETS, base, encode, encode_for_url, fill, with_checksum
from benchmarks.secrets.kind import Kind, Value, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

FORMS = """
openai user key | OPENAI_API_KEY | sk-{b62:20}T3BlbkFJ{b62:20}
openai project key | OPENAI_API_KEY | sk-proj-{url:74}T3BlbkFJ{url:74}
openai service account key | OPENAI_API_KEY | sk-svcacct-{url:74}T3BlbkFJ{url:74}
openai admin key | OPENAI_ADMIN_KEY | sk-admin-{url:74}T3BlbkFJ{url:74}
anthropic key | ANTHROPIC_API_KEY | sk-ant-api03-{url:93}AA
anthropic admin key | ANTHROPIC_ADMIN_KEY | sk-ant-admin01-{url:93}AA
anthropic oauth token | CLAUDE_CODE_OAUTH_TOKEN | sk-ant-oat01-{url:93}AA
openrouter key | OPENROUTER_API_KEY | sk-or-v1-{hex:64}
deepseek key | DEEPSEEK_API_KEY | sk-{hex:32}
groq key | GROQ_API_KEY | gsk_{b62:20}WGdyb3FY{b62:24}
xai key | XAI_API_KEY | xai-{b62:80}
perplexity key | PERPLEXITY_API_KEY | pplx-{b62:48}
hugging face token | HF_TOKEN | hf_{alpha:34}
replicate token | REPLICATE_API_TOKEN | r8_{b62:37}
together key | TOGETHER_API_KEY | tgp_v1_{url:43}
fireworks key | FIREWORKS_API_KEY | fw_{b62:24}
cerebras key | CEREBRAS_API_KEY | csk-{b36:48}
nvidia key | NVIDIA_API_KEY | nvapi-{url:64}
elevenlabs key | ELEVENLABS_API_KEY | sk_{hex:48}
pinecone key | PINECONE_API_KEY | pcsk_{b62:6}_{b62:63}
voyage key | VOYAGE_API_KEY | pa-{url:43}
langsmith key | LANGSMITH_API_KEY | lsv2_pt_{hex:32}_{hex:10}
langfuse key | LANGFUSE_SECRET_KEY | sk-lf-{uuid}
tavily key | TAVILY_API_KEY | tvly-dev-{b62:32}
firecrawl key | FIRECRAWL_API_KEY | fc-{hex:32}
e2b key | E2B_API_KEY | e2b_{hex:40}
runpod key | RUNPOD_API_KEY | rpa_{B36:40}
modal secret | MODAL_TOKEN_SECRET | as-{b62:22}
aws access key id | AWS_ACCESS_KEY_ID | AKIA{b32:16}
aws temporary key id | AWS_ACCESS_KEY_ID | ASIA{b32:16}
aws session token | AWS_SESSION_TOKEN | IQoJb3JpZ2luX2VjE{b64:340}=
aws bedrock key | AWS_BEARER_TOKEN_BEDROCK | ABSKQmVkcm9ja0FQSUtleS{b64:108}=
google api key | GOOGLE_API_KEY | AIza{url:35}
google client secret | GOOGLE_CLIENT_SECRET | GOCSPX-{url:28}
google access token | GOOGLE_OAUTH_ACCESS_TOKEN | ya29.a0{url:160}
google refresh token | GOOGLE_REFRESH_TOKEN | 1//0{url:2}CgYIARAA{url:90}
azure client secret | AZURE_CLIENT_SECRET | {b62:3}8Q~{tilde:34}
azure storage key | AZURE_STORAGE_KEY | {b64:76}+ASt{b64:5}A==
azure cosmos key | COSMOS_KEY | {b64:76}ACDb{b64:5}A==
azure openai key | AZURE_OPENAI_API_KEY | {b62:52}JQQJ99B{B36:3}AC{b62:6}AAAB{b62:2}ACOG{b62:4}
azure devops token | AZURE_DEVOPS_EXT_PAT | {b62:52}JQQJ99{b62:18}AZDO{b62:4}
azure function key | AZURE_FUNCTION_KEY | {url:44}AzFu{url:5}A==
azure service bus key | SERVICEBUS_KEY | {b64:33}+ASb{b64:6}=
alibaba access key id | ALIBABA_CLOUD_ACCESS_KEY_ID | LTAI{b62:20}
tencent secret id | TENCENTCLOUD_SECRET_ID | AKID{b62:32}
yandex api key | YC_API_KEY | AQVN{url:36}
yandex oauth token | YC_OAUTH_TOKEN | y0_{url:55}
digitalocean token | DIGITALOCEAN_ACCESS_TOKEN | dop_v1_{hex:64}
digitalocean oauth token | DO_OAUTH_TOKEN | doo_v1_{hex:64}
digitalocean refresh token | DO_REFRESH_TOKEN | dor_v1_{hex:64}
heroku key | HEROKU_API_KEY | HRKU-AA{url:58}
render key | RENDER_API_KEY | rnd_{b62:28}
netlify token | NETLIFY_AUTH_TOKEN | nfp_{b62:36}
fly token | FLY_API_TOKEN | FlyV1 fm2_{b64:160}
planetscale password | PLANETSCALE_PASSWORD | pscale_pw_{url:43}
planetscale token | PLANETSCALE_SERVICE_TOKEN | pscale_tkn_{url:43}
neon key | NEON_API_KEY | napi_{b36:64}
supabase token | SUPABASE_ACCESS_TOKEN | sbp_{hex:40}
supabase secret key | SUPABASE_SECRET_KEY | sb_secret_{url:22}_{url:8}
mongodb atlas secret | MONGODB_ATLAS_CLIENT_SECRET | mdb_sa_sk_{url:40}
databricks token | DATABRICKS_TOKEN | dapi{hex:32}
cloudflare origin key | CLOUDFLARE_ORIGIN_CA_KEY | v1.0-{hex:24}-{hex:146}
tailscale key | TS_AUTHKEY | tskey-auth-k{b62:11}CNTRL-{b62:32}
hashicorp vault token | VAULT_TOKEN | hvs.CAESI{url:86}
hashicorp vault batch token | VAULT_TOKEN | hvb.AAAAAQ{url:140}
terraform cloud token | TFE_TOKEN | {b62:14}.atlasv1.{url:67}
pulumi token | PULUMI_ACCESS_TOKEN | pul-{hex:40}
doppler token | DOPPLER_TOKEN | dp.pt.{b62:43}
doppler service token | DOPPLER_TOKEN | dp.st.dev_api.{b62:43}
infisical token | INFISICAL_TOKEN | st.{hex:24}.{hex:32}.{hex:32}
1password secret key | OP_SECRET_KEY | A3-{B36:6}-{B36:6}-{B36:5}-{B36:5}-{B36:5}-{B36:5}
slack bot token | SLACK_BOT_TOKEN | xoxb-{digits:12}-{digits:13}-{b62:24}
slack user token | SLACK_USER_TOKEN | xoxp-{digits:12}-{digits:12}-{digits:13}-{hex:32}
slack app token | SLACK_APP_TOKEN | xapp-1-A{B36:10}-{digits:13}-{hex:64}
slack refresh token | SLACK_REFRESH_TOKEN | xoxe-1-{b62:146}
telegram bot token | TELEGRAM_BOT_TOKEN | {digits:10}:AA{url:33}
sendgrid key | SENDGRID_API_KEY | SG.{url:22}.{url:43}
mailgun key | MAILGUN_API_KEY | key-{hex:32}
mailchimp key | MAILCHIMP_API_KEY | {hex:32}-us21
mandrill key | MANDRILL_API_KEY | md-{url:22}
brevo key | BREVO_API_KEY | xkeysib-{hex:64}-{b62:16}
resend key | RESEND_API_KEY | re_{b62:8}_{b62:24}
twilio api key sid | TWILIO_API_KEY | SK{hex:32}
facebook token | FACEBOOK_ACCESS_TOKEN | EAA{b62:180}
instagram token | INSTAGRAM_ACCESS_TOKEN | IGQVJ{url:150}
stripe live key | STRIPE_SECRET_KEY | sk_live_51{b62:97}
stripe test key | STRIPE_SECRET_KEY | sk_test_{b62:24}
stripe restricted key | STRIPE_RESTRICTED_KEY | rk_live_51{b62:97}
stripe webhook secret | STRIPE_WEBHOOK_SECRET | whsec_{b62:32}
square access token | SQUARE_ACCESS_TOKEN | EAAA{url:60}
square secret | SQUARE_APPLICATION_SECRET | sq0csp-{url:43}
square old token | SQUARE_ACCESS_TOKEN | sq0atp-{url:22}
braintree token | BRAINTREE_ACCESS_TOKEN | access_token$production${b36:16}${hex:32}
plaid access token | PLAID_ACCESS_TOKEN | access-production-{uuid}
flutterwave key | FLW_SECRET_KEY | FLWSECK-{hex:32}-X
shopify access token | SHOPIFY_ACCESS_TOKEN | shpat_{hex:32}
shopify shared secret | SHOPIFY_API_SECRET | shpss_{hex:32}
shopify private app | SHOPIFY_PASSWORD | shppa_{hex:32}
woocommerce secret | WOOCOMMERCE_SECRET | cs_{hex:40}
easypost key | EASYPOST_API_KEY | EZAK{hex:32}{b62:22}
shippo token | SHIPPO_TOKEN | shippo_live_{hex:40}
duffel token | DUFFEL_ACCESS_TOKEN | duffel_live_{url:43}
lob key | LOB_API_KEY | live_{hex:35}
docker access token | DOCKER_PAT | dckr_pat_{url:27}
docker organisation token | DOCKER_OAT | dckr_oat_{url:32}
rubygems key | GEM_HOST_API_KEY | rubygems_{hex:48}
crates.io token | CARGO_REGISTRY_TOKEN | cio{b62:32}
nuget key | NUGET_API_KEY | oy2{b36:43}
clojars token | CLOJARS_TOKEN | CLOJARS_{hex:60}
artifactory key | ARTIFACTORY_API_KEY | AKCp8{b62:68}
artifactory reference token | ARTIFACTORY_TOKEN | cmVmdGtuOjAxOjA{b62:49}
gitlab access token | GITLAB_TOKEN | glpat-{url:20}
gitlab deploy token | CI_DEPLOY_PASSWORD | gldt-{url:20}
gitlab runner token | RUNNER_TOKEN | glrt-{url:20}
gitlab registration token | REGISTRATION_TOKEN | GR1348941{url:20}
gitlab trigger token | TRIGGER_TOKEN | glptt-{hex:40}
gitlab job token | CI_JOB_TOKEN | glcbt-{hex:2}_{url:20}
gitlab feed token | GITLAB_FEED_TOKEN | glft-{url:20}
gitlab agent token | KAS_TOKEN | glagent-{url:50}
gitlab oauth secret | GITLAB_OAUTH_SECRET | gloas-{hex:64}
gitlab scim token | SCIM_TOKEN | glsoat-{url:20}
gitlab mail token | INCOMING_MAIL_TOKEN | glimt-{b36:25}
atlassian token | ATLASSIAN_API_TOKEN | ATATT3xFfGF0{url:171}={HEX:8}
bitbucket app password | BITBUCKET_APP_PASSWORD | ATBB{b62:24}{HEX:8}
trello token | TRELLO_TOKEN | ATTA{hex:64}{HEX:8}
linear key | LINEAR_API_KEY | lin_api_{b62:40}
linear oauth token | LINEAR_OAUTH_TOKEN | lin_oauth_{hex:64}
notion token | NOTION_TOKEN | ntn_{digits:11}{b62:35}
notion old token | NOTION_TOKEN | secret_{b62:43}
figma token | FIGMA_TOKEN | figd_{url:40}
asana token | ASANA_ACCESS_TOKEN | 2/{digits:16}/{digits:16}:{hex:32}
clickup token | CLICKUP_API_TOKEN | pk_{digits:8}_{B36:32}
airtable token | AIRTABLE_API_KEY | pat{b62:14}.{hex:64}
typeform token | TYPEFORM_TOKEN | tfp_{url:44}_{url:14}
hubspot token | HUBSPOT_ACCESS_TOKEN | pat-na1-{uuid}
salesforce session | SF_ACCESS_TOKEN | 00D{b62:12}!AQ{tilde:94}
posthog key | POSTHOG_PERSONAL_API_KEY | phx_{url:43}
launchdarkly key | LAUNCHDARKLY_SDK_KEY | sdk-{uuid}
contentful token | CONTENTFUL_MANAGEMENT_TOKEN | CFPAT-{url:43}
sentry user token | SENTRY_AUTH_TOKEN | sntryu_{hex:64}
new relic user key | NEW_RELIC_API_KEY | NRAK-{B36:27}
new relic licence | NEW_RELIC_LICENSE_KEY | {hex:36}NRAL
new relic insert key | NEW_RELIC_INSERT_KEY | NRII-{url:32}
dynatrace token | DT_API_TOKEN | dt0c01.{b32:24}.{b32:64}
honeycomb ingest key | HONEYCOMB_API_KEY | hcaik_{b36:58}
sonarqube token | SONAR_TOKEN | sqp_{hex:40}
circleci token | CIRCLECI_TOKEN | CCIPAT_{b62:22}_{hex:40}
buildkite token | BUILDKITE_API_TOKEN | bkua_{hex:40}
postman key | POSTMAN_API_KEY | PMAK-{hex:24}-{hex:34}
prefect key | PREFECT_API_KEY | pnu_{b36:36}
sourcegraph token | SRC_ACCESS_TOKEN | sgp_{hex:16}_{hex:40}
readme key | README_API_KEY | rdme_{b36:70}
frame.io token | FRAMEIO_TOKEN | fio-u-{url:64}
adafruit key | ADAFRUIT_IO_KEY | aio_{b62:28}
deno deploy token | DENO_DEPLOY_TOKEN | ddp_{b62:36}
scalingo token | SCALINGO_API_TOKEN | tk-us-{url:48}
harness token | HARNESS_API_KEY | pat.{b62:22}.{hex:24}.{b62:20}
age key | AGE_KEY | AGE-SECRET-KEY-1{bech:58}
"""
"""Name, variable and form of keys that their form tells."""

OPAQUE = """
aws secret key | AWS_SECRET_ACCESS_KEY | {b64:40}
mistral key | MISTRAL_API_KEY | {b62:32}
cohere key | COHERE_API_KEY | {b62:40}
deepgram key | DEEPGRAM_API_KEY | {hex:40}
assemblyai key | ASSEMBLYAI_API_KEY | {hex:32}
wandb key | WANDB_API_KEY | {hex:40}
serpapi key | SERPAPI_API_KEY | {hex:64}
exa key | EXA_API_KEY | {uuid}
cloudflare token | CLOUDFLARE_API_TOKEN | {url:40}
cloudflare global key | CLOUDFLARE_API_KEY | {hex:37}
vercel token | VERCEL_TOKEN | {b62:24}
railway token | RAILWAY_TOKEN | {uuid}
linode token | LINODE_TOKEN | {hex:64}
vultr key | VULTR_API_KEY | {B36:36}
hetzner token | HCLOUD_TOKEN | {b62:64}
scaleway secret | SCW_SECRET_KEY | {uuid}
confluent secret | CONFLUENT_CLOUD_API_SECRET | {b64:64}
datadog api key | DD_API_KEY | {hex:32}
datadog application key | DD_APP_KEY | {hex:40}
twilio auth token | TWILIO_AUTH_TOKEN | {hex:32}
postmark token | POSTMARK_SERVER_TOKEN | {uuid}
discord client secret | DISCORD_CLIENT_SECRET | {url:32}
twitch secret | TWITCH_CLIENT_SECRET | {b36:30}
spotify secret | SPOTIPY_CLIENT_SECRET | {hex:32}
twitter secret | TWITTER_API_SECRET | {b62:50}
paypal secret | PAYPAL_CLIENT_SECRET | E{url:79}
plaid secret | PLAID_SECRET | {hex:30}
razorpay secret | RAZORPAY_KEY_SECRET | {b62:24}
algolia admin key | ALGOLIA_ADMIN_KEY | {hex:32}
okta token | OKTA_API_TOKEN | 00{url:40}
auth0 secret | AUTH0_CLIENT_SECRET | {url:64}
zendesk token | ZENDESK_API_TOKEN | {b62:40}
pagerduty token | PAGERDUTY_TOKEN | {url:20}
opsgenie key | OPSGENIE_API_KEY | {uuid}
rollbar token | ROLLBAR_ACCESS_TOKEN | {hex:32}
snyk token | SNYK_TOKEN | {uuid}
codecov token | CODECOV_TOKEN | {uuid}
jenkins token | JENKINS_API_TOKEN | 11{hex:32}
travis token | TRAVIS_TOKEN | {url:22}
splunk token | SPLUNK_HEC_TOKEN | {uuid}
ibm cloud key | IBMCLOUD_API_KEY | {url:44}
ngrok token | NGROK_AUTHTOKEN | 2{b62:26}_{b62:20}
github old token | GITHUB_TOKEN | {hex:40}
"""
"""The same of keys that look like any random value."""


def _key(name: str, variable: str, make: Callable[[Random], Value]) -> Kind:
    return Kind(name, variable, "key", make)


def _read(table: str, *, recognisable: bool) -> tuple[Kind, ...]:
    rows = (tuple(cell.strip() for cell in line.split(" | ")) for line in table.strip().splitlines())
    return tuple(
        Kind(name, variable, "key", lambda rng, form=form: whole(fill(form, rng)), recognisable)  # type: ignore[misc]
        for name, variable, form in rows
    )


def _checked(prefix: str) -> Callable[[Random], Value]:
    return lambda rng: whole(with_checksum(prefix, 30, rng))


def _jwt(
    algorithm: str, signature_bytes: int, claims: Callable[[Random], dict[str, object]]
) -> Callable[[Random], Value]:
    def make(rng: Random) -> Value:
        parts = ({"alg": algorithm, "typ": "JWT"}, claims(rng))
        written = [encode_for_url(json.dumps(part, separators=(",", ":")).encode()) for part in parts]
        signature = encode_for_url(rng.randbytes(signature_bytes))
        text = ".".join((*written, signature))
        # A reader who has the signature alone has the rest from anywhere.
        return Value(text, (text, signature))

    return make


def _user(rng: Random) -> dict[str, object]:
    return {
        "sub": fill("{digits:10}", rng),
        "name": fill("user{digits:4}", rng),
        "iat": 1_516_239_022 + rng.randrange(10**8),
    }


def _role(rng: Random) -> dict[str, object]:
    ref = fill("{lower:20}", rng)
    return {
        "iss": "supabase",
        "ref": ref,
        "role": "service_role",
        "iat": 1_700_000_000,
        "exp": 2_015_000_000 + rng.randrange(10**6),
    }


def _account(rng: Random) -> dict[str, object]:
    pod = fill("api-{b36:10}-{b36:5}", rng)
    return {"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:shop:api", "kubernetes.io": {"pod": pod}}


def _jwe(rng: Random) -> Value:
    head = encode_for_url(b'{"alg":"RSA-OAEP","enc":"A256GCM"}')
    return whole(".".join((head, *(encode_for_url(rng.randbytes(size)) for size in (256, 12, 96, 16)))))


def _gitlab_routable(rng: Random) -> Value:
    payload = encode_for_url(rng.randbytes(rng.randint(24, 40)))
    body = f"{payload}.01.{base(len(payload), ALPHABETS['b36'], 2)}"
    return whole(f"glpat-{body}{base(zlib.crc32(body.encode()), ALPHABETS['b36'], 7)}")


def _pypi(rng: Random) -> Value:
    location, identity = b"\x02\x01\x08pypi.org\x02\x24", fill("{uuid}", rng).encode()
    caveat = b'\x00\x02\x2a[3,"' + fill("{uuid}", rng).encode() + b'"]\x00\x00\x06\x20'
    return whole("pypi-" + encode_for_url(location + identity + caveat + rng.randbytes(32)))


def _grafana(rng: Random) -> Value:
    body = fill("{b62:32}", rng)
    return whole(f"glsa_{body}_{zlib.crc32(body.encode()):08x}")


def _grafana_cloud(rng: Random) -> Value:
    policy = {"o": fill("{digits:6}", rng), "n": "metrics-write", "k": fill("{b62:24}", rng), "m": {"r": "eu"}}
    return whole("glc_" + encode(json.dumps(policy, separators=(",", ":")).encode()))


def _sentry(rng: Random) -> Value:
    claims = {
        "iat": 1_690_000_000 + rng.random(),
        "url": "https://sentry.io",
        "region_url": "https://us.sentry.io",
        "org": "shop",
    }
    return whole(f"sntrys_{encode(json.dumps(claims).encode())}_{fill('{b64:43}', rng)}")


def _one_password(rng: Random) -> Value:
    account = {
        "signInAddress": "shop.1password.com",
        "secretKey": fill("A3-{B36:6}-{B36:6}", rng),
        "muk": fill("{url:43}", rng),
    }
    return whole("ops_" + encode_for_url(json.dumps(account).encode()))


def _mapbox(rng: Random) -> Value:
    owner = json.dumps({"u": fill("user{digits:3}", rng), "a": fill("c{b36:24}", rng)}, separators=(",", ":"))
    return whole(f"sk.{encode_for_url(owner.encode())}.{fill('{url:22}', rng)}")


def _discord(rng: Random) -> Value:
    return whole(
        f"{encode_for_url(fill('1{digits:17}', rng).encode())}.{fill('G{url:5}', rng)}.{fill('{url:38}', rng)}"
    )


def _intercom(rng: Random) -> Value:
    return whole(encode(f"tok:{fill('{hex:8}_{hex:4}_{hex:4}_{hex:4}_{hex:12}', rng)}:1:0".encode()))


def _elastic(rng: Random) -> Value:
    return whole(encode(fill("{url:20}:{url:22}", rng).encode()))


def _twitter(rng: Random) -> Value:
    return whole(fill("AAAAAAAAAAAAAAAAAAAAA{b62:28}%3D{b62:50}", rng))


def _url(name: str, variable: str, form: str, between: str = "/") -> Kind:
    def make(rng: Random) -> Value:
        text = fill(form, rng)
        return Value(text, (text.rpartition(between)[2],))

    return Kind(name, variable, "connection", make)


def _signed(name: str, variable: str, front: str) -> Kind:
    def make(rng: Random) -> Value:
        signature = encode(rng.randbytes(32))
        return Value(f"{fill(front, rng)}&sig={quote(signature, safe='')}", (quote(signature, safe=""),))

    return Kind(name, variable, "connection", make)


def _connection(name: str, variable: str, front: str, key: str) -> Kind:
    def make(rng: Random) -> Value:
        secret = fill(key, rng)
        return Value(front + secret, (secret,))

    return Kind(name, variable, "connection", make)


MADE = (
    _key("github personal token", "GITHUB_TOKEN", _checked("ghp_")),
    _key("github oauth token", "GH_TOKEN", _checked("gho_")),
    _key("github user token", "GITHUB_USER_TOKEN", _checked("ghu_")),
    _key("github app token", "GITHUB_APP_TOKEN", _checked("ghs_")),
    _key("github refresh token", "GITHUB_REFRESH_TOKEN", lambda rng: whole(with_checksum("ghr_", 70, rng))),
    _key("github fine-grained token", "GITHUB_PAT", lambda rng: whole(fill("github_pat_11{B36:20}_{b62:59}", rng))),
    _key("gitlab routable token", "GITLAB_TOKEN", _gitlab_routable),
    _key("npm token", "NPM_TOKEN", _checked("npm_")),
    _key("pypi token", "TWINE_PASSWORD", _pypi),
    _key("grafana service token", "GRAFANA_TOKEN", _grafana),
    _key("grafana cloud token", "GRAFANA_CLOUD_TOKEN", _grafana_cloud),
    _key("sentry organisation token", "SENTRY_AUTH_TOKEN", _sentry),
    _key("1password service token", "OP_SERVICE_ACCOUNT_TOKEN", _one_password),
    _key("mapbox secret token", "MAPBOX_ACCESS_TOKEN", _mapbox),
    _key("discord bot token", "DISCORD_TOKEN", _discord),
    _key("intercom token", "INTERCOM_ACCESS_TOKEN", _intercom),
    _key("twitter bearer token", "TWITTER_BEARER_TOKEN", _twitter),
    Kind("elastic api key", "ELASTIC_API_KEY", "key", _elastic, recognisable=False),
    _key("jwt: HS256", "ACCESS_TOKEN", _jwt("HS256", 32, _user)),
    _key("jwt: RS256", "ID_TOKEN", _jwt("RS256", 256, _user)),
    _key("jwt: ES256", "AUTH_TOKEN", _jwt("ES256", 64, _user)),
    _key("jwt: supabase service role", "SUPABASE_SERVICE_ROLE_KEY", _jwt("HS256", 32, _role)),
    _key("jwt: kubernetes account", "KUBE_TOKEN", _jwt("RS256", 256, _account)),
    _key("jwe", "SESSION_TOKEN", _jwe),
    _url("slack webhook", "SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T{B36:10}/B{B36:10}/{b62:24}"),
    _url("discord webhook", "DISCORD_WEBHOOK_URL", "https://discord.com/api/webhooks/{digits:18}/{url:68}"),
    _url(
        "teams webhook",
        "TEAMS_WEBHOOK_URL",
        "https://shop.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}",
    ),
    _url("telegram bot url", "TELEGRAM_URL", "https://api.telegram.org/bot{digits:10}:AA{url:33}", ":"),
    _url(
        "google chat webhook",
        "CHAT_WEBHOOK",
        "https://chat.googleapis.com/v1/spaces/AAAA{url:7}/messages?key=AIza{url:35}&token={url:43}",
        "=",
    ),
    _url(
        "aws signed url",
        "DOWNLOAD_URL",
        "https://shop.s3.amazonaws.com/orders.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA{b32:16}%2F20250102%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20250102T030405Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature={hex:64}",
        "=",
    ),
    _url(
        "google signed url",
        "EXPORT_URL",
        "https://storage.googleapis.com/shop/orders.csv?GoogleAccessId=export@shop.iam.gserviceaccount.com&Expires=1735787045&Signature={url:342}",
        "=",
    ),
    _signed(
        "azure signed url",
        "AZURE_BLOB_URL",
        "https://shop.blob.core.windows.net/exports/orders.csv?sv=2022-11-02&st=2025-01-02T03%3A04%3A05Z&se=2025-02-02T03%3A04%3A05Z&sr=b&sp=r",
    ),
    _signed(
        "azure shared access signature",
        "AZURE_STORAGE_SAS_TOKEN",
        "sv=2022-11-02&ss=b&srt=sco&sp=rwdlac&se=2025-02-02T03:04:05Z&spr=https",
    ),
    _connection(
        "azure storage connection",
        "AZURE_STORAGE_CONNECTION_STRING",
        "DefaultEndpointsProtocol=https;AccountName=shopdata;EndpointSuffix=core.windows.net;AccountKey=",
        "{b64:76}+ASt{b64:5}A==",
    ),
    _connection(
        "azure service bus connection",
        "SERVICEBUS_CONNECTION_STRING",
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=",
        "{b64:33}+ASb{b64:6}=",
    ),
)

ISSUERS = (*_read(FORMS, recognisable=True), *_read(OPAQUE, recognisable=False), *MADE)
