"""What providers said of contexts that were too long, and what only sounds like it, each as it was found."""

# ruff: noqa: E501, RUF001 - the texts stand as they were sent.

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """What came back of a call, and from where it is known."""

    source: str
    text: str
    limit: int | None = None
    status: int | None = 400


class Form(NamedTuple):
    """A text in a named form, and what must be read of it."""

    provider: str
    text: str
    limit: int | None = None
    sent: int | None = None


FORMS = (
    Form(
        "bedrock",
        "An error occurred (ValidationException) when calling the InvokeModel operation: Malformed input request: expected maxLength: 42000, actual: 46735, please reformat your input and try again.",
    ),
    Form("snowflake", "max tokens of 200000 exceeded", 200_000),
    Form(
        "fireworks",
        "OpenAIException - The prompt is too long: 300001, model maximum context length: 262143",
        262_143,
        300_001,
    ),
    Form(
        "anthropic",
        "input length and `max_tokens` exceed context limit: 150000   64000 > 200000, decrease input length",
        200_000,
        214_000,
    ),
    Form("qwen", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]", 204_800),
    Form("zhipu", '{"code": "1261", "message": "Prompt exceeds max length"}'),
    Form("zhipu", "Request 190000 input tokens exceeds the model's maximum context length 202750", 202_750, 190_000),
    Form("minimax", "invalid params, context window exceeds limit (2013)"),
    Form(
        "siliconflow",
        "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.",
        202_752,
        204_703,
    ),
    Form("volcengine", "Total tokens of image and text exceed max message tokens"),
    Form("volcengine", "Input length 203743 exceeds the maximum length 202752", 202_752, 203_743),
    Form(
        "nim",
        "You passed 180000 input tokens and requested 32000 output tokens. However, the model's context length is only 202752 tokens, resulting in a maximum input length of 170752 tokens.",
        202_752,
        212_000,
    ),
    Form(
        "vllm",
        "This model's maximum context length is 200 tokens. However, your request has 203 input tokens.",
        200,
        203,
    ),
    Form("vllm", "Input prompt (36893 tokens) is too long and exceeds limit of 1000", 1_000, 36_893),
    Form("vllm", "max_tokens must be at least 1, got -5178."),
    Form("sglang", "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).", 59_862, 160_062),
    Form("tgi", "Input validation error: `inputs` must have less than 2048 tokens. Given: 2100", 2_048, 2_100),
    Form(
        "sambanova",
        "The maximum context length of Llama-4-Maverick is 32768. However, answering your request will take 40000 tokens.",
        32_768,
        40_000,
    ),
    Form(
        "lm-studio",
        "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough.",
        8_192,
        15_857,
    ),
    Form(
        "lm-studio",
        "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow.",
        4_096,
    ),
    Form("lm-studio", "Context size has been exceeded"),
    Form("ollama", "the input length exceeds the context length"),
    Form(
        "poolside", "Input length 140000 exceeds the maximum allowed input length of 131040 tokens.", 131_040, 140_000
    ),
    Form(
        "cloudflare",
        "5021: The estimated number of input and maximum output tokens (155740) exceeded this model context window limit (128000).",
        128_000,
        155_740,
    ),
    Form("cerebras", "400 status code (no body)"),
    Form("gemini", "Request payload size exceeds the limit: 20971520 bytes."),
)
"""Each form that was added for a provider, by an example."""

REFUSED = (
    Said(
        "houko/wechatgpt#15",
        "This model's maximum context length is 4097 tokens, however you requested 4182 tokens (182 in your prompt; 4000 for the completion). Please reduce your prompt; or completion length.",
        4_097,
        400,
    ),
    Said(
        "fengshao1227/ccg-workflow#69",
        '{"type":"error","error":{"type":"prompt_limit","message":"输入内容过长，请减少 Prompt 中的 token 数量后重试"}}',
        None,
        400,
    ),
    Said(
        "kijai/ComfyUI-CogVideoXWrapper#204",
        "Prompt is too long, max tokens supported is 226 or less, got 303",
        226,
        None,
    ),
    Said("labring/FastGPT#1241", "Body exceeded 1mb limit", None, 400),
    Said("agent0ai/agent-zero#1857", "{'detail': 'Request body too large'}", None, 413),
    Said("PaddlePaddle/ERNIE-SDK#336", "BadRequestError: prompt tokens too long", None, None),
    Said("egoist/chatwise-releases#917", "输入 token 超出限制", None, 400),
    Said(
        "agent0ai/agent-zero#1102",
        "This model's maximum context length is 16384 tokens. However, your request has 19427 input tokens. Please reduce the length of the input messages. (parameter=input_tokens, value=19427)",
        16_384,
        400,
    ),
    Said(
        "evalstate/fast-agent#346",
        "Error code: 413 - {'error': {'code': 'tokens_limit_reached', 'message': 'Provider API error: Request body too large for gpt-4o model. Max size: 8000 tokens.'}}",
        8_000,
        413,
    ),
    Said(
        "llmmllab/llmmllab-api#56",
        "Error code: 400 - request (53192 tokens) exceeds context size (50176 tokens)",
        50_176,
        400,
    ),
    Said("tinyhumansai/openhuman#2074", "token count 203783 exceeds model max context 202752", 202_752, 400),
    Said("BerriAI/litellm#21647", "The total length of all messages is too long.", None, 400),
    Said(
        "BerriAI/litellm#15968",
        "AzureException BadRequestError - Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.",
        272_000,
        400,
    ),
    Said(
        "BerriAI/litellm#17751",
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        1_048_576,
        400,
    ),
    Said("openclaw/openclaw#3188", "context_overflow", None, 400),
    Said(
        "earendil-works/pi#4563",
        "Error: 503 litellm.ServiceUnavailableError: litellm.MidStreamFallbackError: litellm.APIConnectionError: APIConnectionError: OpenAIException - Requested token count exceeds the model's maximum context length of 131072 tokens.",
        131_072,
        503,
    ),
    Said("openclaw/openclaw#58839", "ValidationException: Input exceeds the max input token limit", None, 400),
    Said("openclaw/openclaw#58839", "ollama: context length exceeded for llama3", None, 400),
    Said("openclaw/openclaw#58839", "total tokens exceeds the model's max of 4096", 4_096, 400),
    Said("anomalyco/opencode#27519", "tokens in request more than max tokens allowed", None, 400),
    Said("docker/docker-agent#3387", "Conversation has exceeded model's context window", None, None),
    Said("MoonshotAI/kimi-code#2655", "this model supports only 256K context", None, 401),
    Said("infiniflow/ragflow#589", "Range of input length should be [1, 30000]", 30_000),
    Said("dataelement/bisheng#585", "知识库问答报错Tool output: Range of input length should be [1, 6000]", 6_000),
    Said("MiniMax-AI/MiniMax-M2#119", "invalid params, context window exceeds limit (2013)"),
    Said(
        "langgenius/dify#32221",
        "ArkBadRequestError: Error code: 400 - {'error': {'code': 'InvalidParameter', 'message': 'Input length 203743 exceeds the maximum length 202752'}}",
        202_752,
    ),
    Said(
        "QwenLM/Qwen3#1321",
        '{"object":"error","message":"The input (61709 tokens) is longer than the model\\\'s context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}',
        40_960,
    ),
    Said(
        "sgl-project/sglang#4048",
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
        59_862,
    ),
    Said("vllm-project/vllm#10440", "Input prompt (36893 tokens) is too long and exceeds limit of 1000", 1_000),
    Said(
        "UKGovernmentBEIS/inspect_ai#2634",
        "This model's maximum context length is 200 tokens. However, your request has 203 input tokens. Please reduce the length of the input messages. None",
        200,
    ),
    Said(
        "cloudflare/cloudflare-docs#29731",
        "AiError: This model's maximum context length is 131072 tokens.\nHowever, you requested 16000 output tokens and your prompt contains\nat least 115073 input tokens, for a total of at least 131073 tokens.\nPlease reduce the length of the input prompt or reduce max_tokens.",
        131_072,
    ),
    Said(
        "developers.cloudflare.com/workers-ai",
        "5021: The estimated number of input and maximum output tokens (155740) exceeded this model context window limit (128000).",
        128_000,
        413,
    ),
    Said(
        "lancedb/lancedb#1535",
        '{"errors":[{"code":"invalid_input_argument","message":"Invalid input argument for Model \'ibm/slate-125m-english-rtrvr\': Token sequence length is longer than the specified maximum sequence length for this model (1336 \\u003e 512).","more_info":"https://cloud.ibm.com/apidocs/watsonx-ai"}],"status_code":400}',
        512,
    ),
    Said(
        "lmstudio-ai/lmstudio-bug-tracker#1251",
        "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.",
        4_096,
    ),
    Said("lmstudio-ai/examples#29", "[ERROR] Error: Input length 6491 exceeds context length 1500", 1_500),
    Said(
        "nano-step/nano-brain#208",
        'ollama: unexpected status 400: {\\"error\\":\\"the input length exceeds the context length\\"}',
    ),
    Said(
        "openJiuwen-ai/jiuwenswarm#12",
        "Error code: 400 - {'error': {'message': '400 Bad Request: prompt too long; exceeded max context length by 263 tokens', 'type': 'api_error', 'param': None, 'code': None}}",
    ),
    Said("bytedance/deer-flow#583", "Total tokens of image and text exceed max message tokens"),
    Said(
        "leookun/cursor-byok#129",
        'openai adapter status=400 body={"code":20015,"message":"number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.","data":null}',
        202_752,
    ),
    Said(
        "Alishahryar1/free-claude-code#391",
        "Error code: 400 - {'error': {'message': \"This model's maximum context length is 196608\n   tokens. However, your messages resulted in 199906 tokens. Please reduce the length of\n   the messages.\", 'type': 'Bad Request', 'code': 400}} (request_id=req_e60975c13a6c)",
        196_608,
    ),
    Said(
        "anthropics/claude-code#2569",
        '413 {"error":{"message":"{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"Prompt is too long\\"}}","type":"None","param":"None","code":"413"}',
        None,
        413,
    ),
    Said(
        "anthropics/anthropic-sdk-python#1028",
        "Request exceeds the maximum allowed number of bytes. The maximum request size is 32 MB",
        None,
        413,
    ),
    Said(
        "farion1231/cc-switch#666",
        "unexpected status 413 Payload Too Large: Failed to buffer the request body: length limit exceeded, url: http://127.0.0.1:15721/v1/responses",
        None,
        None,
    ),
    Said("earendil-works/pi#2068", "413 failed to parse request", None, 413),
    Said(
        "earendil-works/pi overflow.ts",
        "Input length (265330) exceeds model's maximum context length (262144).",
        262_144,
    ),
    Said(
        "anomalyco/opencode errors",
        "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
    ),
    Said(
        "cuga-project/cuga-agent#439",
        "Invalid input argument for Model 'openai/gpt-oss-120b': max_tokens must be at least 1, got -5178.",
    ),
    Said(
        "can1357/oh-my-pi overflow tests",
        "Model returned no content: prompt filled the context window; raise Ollama num_ctx or shorten the prompt.",
    ),
    Said("can1357/oh-my-pi overflow tests", "Error from inference backend: 400 status code (no body)"),
    Said(
        "ucloud modelverse error codes",
        '{"error":{"type":"invalid_request_error","code":"tokens_too_long","message":"Prompt tokens too long"}}',
    ),
    Said(
        "Shopify/roast#52",
        '{"error" => {"message" => "Invalid \'messages[5].content\': string too long. Expected a string with maximum length 10485760, but got a string with length 10605342 instead.", "param" => "messages[5].content", "code" => "string_above_max_length"}}',
    ),
    Said(
        "VectorlyApp/bluebox#31",
        "Error code: 400 - {'error': {'message': \"Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 62114761 instead.\", 'type': 'invalid_request_error', 'param': 'input[0].content', 'code': 'string_above_max_length'}}",
    ),
    Said(
        "ITSpecialist111/ai_automation_suggester#37",
        'level=WARN source=runner.go:122 msg="input exceeds context length" prompt=2782 limit=2048',
        2_048,
    ),
    Said(
        "LianjiaTech/BELLE#54",
        "OpenAIError: This model's maximum context length is 2049 tokens, however you requested 3643 tokens (3643 in your prompt; 0 for the completion). Please reduce your prompt; or completion length..",
        2_049,
    ),
    Said(
        "continuedev/continue#10993",
        "max_total_tokens (33802) must be less than or equal to max_seq_len (32768)",
        32_768,
    ),
    Said(
        "ITSpecialist111/ai_automation_suggester#42",
        "Input request contains (35490) tokens, which is more than the max tokens limit allowed: (30720)",
        30_720,
    ),
    Said(
        "zed-industries/zed#62362",
        "completion request failed, code: http_403 Forbidden, message: Context window exceeded: 306234 tokens exceeds the limit of 272000 tokens",
        272_000,
        403,
    ),
    Said("langgenius/dify#35311", "Exceeded limit on max bytes to request body : 6291456"),
    Said("danny-avila/LibreChat#5004", "Prompt token count exceeds max token count (5910 / 4095).", 4_095, None),
    Said(
        "langchain-ai/langchain-aws#419",
        "ValidationException: An error occurred (ValidationException) when calling the InvokeModel operation: 1 validation error detected: Value at 'body' failed to satisfy constraint: Member must have length less than or equal to 25000000",
    ),
)
"""Found in issues, documents and tests of others."""

IN_OTHER_WORDS = (
    Said("", "输入令牌数(3377151)超过了允许的最大令牌数(1048576)。", 1_048_576),
    Said("", "Input token length too long", None),
    Said("", "Prompt has 9512 tokens, but the maximum input length is 8191 tokens", 8_191),
    Said(
        "",
        '{"error":{"message":"Requested token count 150000 exceeds model context length of 127072.","type":"context_length","code":400}}',
        127_072,
    ),
    Said(
        "",
        "This model maximum context length is 32768 tokens, but you requested 40960 tokens (32768 in the prompt, 8192 for the completion)",
        32_768,
    ),
    Said("", '{"error_code":336007,"error_msg":"the max input characters is 516096"}'),
    Said("", '{"error_code":336103,"error_msg":"prompt tokens too long"}'),
    Said("", '{"Response":{"Error":{"Code":"InvalidParameterValue","Message":"输入内容过长，请缩短输入"}}}'),
    Said("", '{"header":{"code":10907,"message":"token数量超过上限。对话历史+问题的字数太多，需要精简输入"}}'),
    Said(
        "",
        '{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}',
        8_000,
        413,
    ),
    Said("", "Request too large. The input or output tokens must be reduced in order to run successfully."),
    Said(
        "",
        "Prompt length (13000) exceeds maximum input length (12288). Set log level to info and check TRTGptModel logs for how maximum input length is set",
        12_288,
    ),
    Said(
        "",
        "default_max_tokens (-412) must be greater than 0, default_max_tokens (-412) = max_seq_len (8192) - prompt_len (8604)",
        8_192,
    ),
    Said("", "Request 0 prompt has 9000 tokens in total, larger than the model input length limit 8192.", 8_192),
    Said("", "The input length (18000) exceeds session_len (16384).", 16_384),
    Said(
        "",
        '{"error":{"code":400,"message":"context window overflow: prompt has 9000 tokens but n_ctx is 8192"}}',
        8_192,
    ),
    Said("", "Prompt length 20000 is greater than max_seq_len 16384", 16_384),
    Said("", "Context length exceeded: the prompt needs 9000 tokens"),
    Said("", "Input exceeds model context window. Requested 140000 tokens, limit 128000.", 128_000),
    Said("", "BAD_REQUEST: Exceeded max input tokens: 12000 > 8192", 8_192),
    Said("", "max tokens of 8192 exceeded: the prompt has 9999 tokens", 8_192),
    Said("", "The conversation is too long for this model: 140000 tokens, at most 128000 are allowed", 128_000),
    Said("", "Input length 600 exceeds maximum allowed token size 512", 512),
    Said("", "PayloadTooLargeError: request entity too large"),
    Said("", "http: request body too large", None, 413),
    Said("", "body: request payload size exceeds 10 MB limit"),
    Said("", "The conversation history exceeds the model's maximum context window. Start a new chat or compact."),
    Said("", "Your prompt does not fit the context window of the model."),
    Said("", "Request failed: model_max_prompt_tokens_exceeded", None),
    Said("", "tokens in request exceeded limit of 128000", 128_000),
    Said("", '{"error_code":"BAD_REQUEST","message":"Request size cannot exceed 16777216 bytes."}'),
    Said("", "RuntimeError: internal error happened, status code ResponseType.INPUT_LENGTH_ERROR", status=None),
    Said(
        "",
        "ContextWindowSizeExceededError: Prompt tokens exceed context window size: number of prompt tokens: 5037; context window size: 4096",
        4_096,
        None,
    ),
)
"""As refusals are worded, without a source that could be named: what the rules are for."""

LOOK_ALIKES = (
    Said(
        "rollbar/rollbar-mcp-server#28",
        'Error: MCP tool "get-item-details" response (30608 tokens) exceeds maximum allowed tokens (25000). Please use pagination, filtering, or limit parameters to reduce the response size.',
        status=None,
    ),
    Said(
        "apecloud/ApeRAG#716",
        '{"code":20042,"message":"input batch size 136 > maximum allowed batch size 64","data":null}',
        status=413,
    ),
    Said(
        "openai/openai-python, lib/_parsing",
        "openai.LengthFinishReasonError: Could not parse response content as the length limit was reached - CompletionUsage(completion_tokens=16384, prompt_tokens=2110, total_tokens=18494)",
        status=None,
    ),
    Said(
        "pydantic/pydantic-ai, pydantic_ai/_agent_graph.py",
        "Model token limit (4096) exceeded before any response was generated. Increase the `max_tokens` model setting, or simplify the prompt to result in a shorter response that will fit within the limit.",
        status=None,
    ),
    Said("skapadia3214/groq-moa#8", "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000"),
    Said("agentscope-ai/QwenPaw#5065", "field MaxTokens invalid, should be in [1, 65536]"),
    Said("OpenBMB/ChatDev#492", "BadRequestError: max_tokens is too large (14817 > 4096)"),
    Said(
        "MayDay-wpf/snow-app#113",
        'Vision API request failed: 413 Payload Too Large\n{"error":{"message":"Request payload is too large","type":"invalidrequesterror"}}\n--- Request body ---\npayload_size=4915853 bytes, 1 image(s)',
    ),
    Said("continuedev/continue#9800", "Tokens per minute limit exceeded - too many tokens processed."),
    Said(
        "stackblitz/bolt.new#8588",
        "Failed after 3 attempts. Last error: This request would exceed the rate limit for your organization of 1,000,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.",
    ),
    Said(
        "FoundationAgents/MetaGPT#523",
        "Rate limit reached for gpt-4 in organization org-u on tokens per min (TPM): Limit 10000, Used 8554, Requested 3082. Please try again in 9.816s.",
    ),
    Said(
        "tailcallhq/forgecode#1081",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    Said("", "input exceeds maximum file size"),
    Said("", "Too many tokens per day, please wait before trying again."),
    Said("", "You requested a 1M context window, but this model does not support it on your plan."),
    Said("", "The response was truncated because it reached the maximum output length."),
    Said("", "output length exceeds the limit of 8192 tokens"),
    Said("", "Reached max tokens while generating the answer"),
    Said("", "The number of images in the prompt exceeds the limit of 100."),
    Said("", "Your session token has exceeded its maximum lifetime"),
    Said("", "The 'context_length' field must be an integer"),
    Said("", "Too many tool calls in message: 140 exceeds the limit of 128"),
    Said("", "message rejected: exceeds content policy limit"),
    Said("", "Failed to load model: context length 131072 requires more memory than available"),
    Said(
        "continuedev/continue#11227",
        "402 Prompt tokens limit exceeded: 64128 > 6964. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account",
        None,
        None,
    ),
    Said(
        "anomalyco/opencode#12219",
        "Prompt tokens limit exceeded: 230799 > 91442. To increase, visit https://openrouter.ai/settings/keys and create a key with a higher monthly limit",
        None,
        None,
    ),
    Said(
        "cline/cline#940",
        "max_tokens limit exceeded: 100000 > 9577. To increase, visit https://openrouter.ai/keys and create a key with a higher limit",
    ),
    Said(
        "googleapis/js-genai#1391",
        '{"error":{"code":400,"message":"The file size of `gs://data/abc/image.png` is 47688287, which exceeds max allowed file size of 31457280 for `image/png` files. Reduce the file size by lowering the image resolution, splitting the PDF into multiple files, and so on.","status":"INVALID_ARGUMENT"}}',
    ),
    Said(
        "home-assistant/core#121325",
        "Error code: 400 - {'error': {'message': \"Invalid 'tools[11].function.name': string too long. Expected a string with maximum length 64, but got a string with length 74 instead.\", 'param': 'tools[11].function.name', 'code': 'string_above_max_length'}}",
    ),
    Said(
        "github/app#409",
        "CAPIError: 400 Invalid 'input[206].id': string too long. Expected a string with maximum length 64, but got a string with length 1640 instead. (Request ID: BB3A:3BB3A9)",
    ),
    Said(
        "anomalyco/models.dev#5824",
        "AiError 400 max_completion_tokens is too large: 1298829. This model supports at most 1048576",
    ),
    Said(
        "",
        "`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    ),
    Said(
        "",
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
    ),
    Said(
        "",
        "Enqueued token limit reached for gpt-4o in organization org-1. Limit: 90,000 enqueued tokens. Please try again once some in_progress batches have been completed.",
    ),
    Said("", "413: Maximum content size limit (26214400) exceeded (26480000 bytes read)", None, 413),
    Said("", '{"error":"File too large. The maximum upload size is 25 MB."}', None, 413),
    Said("", "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"),
    Said("", "messages: at least one message is required"),
    Said("", "temperature: Input should be less than or equal to 1"),
    Said(
        "",
        "[{'type': 'int_parsing', 'loc': ['body', 'max_tokens'], 'msg': 'Input should be a valid integer', 'input': 'x'}]",
        None,
        422,
    ),
    Said(
        "",
        'Post "https://api.test/v1/chat/completions": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    ),
    Said("", "Cached content is too small. total_token_count=1000, min_total_token_count=4096"),
    Said(
        "",
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
    ),
    Said("", "Thinking budget 40000 is out of range, it must be between 512 and 24576."),
    Said("", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"),
    Said(
        "",
        "<400> InternalError.Algo.InvalidParameter: The thinking_budget parameter must be a positive integer and not greater than 38912",
    ),
    Said(
        "",
        "User-specified max_model_len (32768) is greater than the derived max_model_len (max_position_embeddings=4096 or model_max_length=None in model's config.json).",
    ),
    Said(
        "",
        "The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (13264). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`.",
    ),
    Said(
        "",
        "Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2100 instead.",
    ),
    Said(
        "",
        "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 6 instead.",
    ),
    Said(
        "",
        "Invalid 'metadata.title': string too long. Expected a string with maximum length 512, but got a string with length 600 instead.",
    ),
    Said(
        "",
        "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.",
    ),
    Said(
        "",
        "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier.",
    ),
    Said("", "Number of request tokens has exceeded your daily rate limit"),
    Said("", "Extra usage is required for long context requests."),
    Said("", "You have exceeded the maximum number of concurrent requests"),
    Said("", "The model meta-llama/Llama-3.1-70B is too large to be loaded automatically (141GB > 10GB)."),
    Said(
        "",
        "The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools.",
    ),
    Said(
        "",
        "The GenerateContentRequest proto is invalid: tools[0].function_declarations: too many function declarations, the limit is 512",
    ),
    Said("", "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    Said("", "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."),
    Said("", "<html><head><title>414 Request-URI Too Large</title></head></html>", None, 414),
    Said("", "431 Request Header Fields Too Large", None, 431),
    Said("", "The model `gpt-4-32k` has been deprecated; use a model with a larger context window.", None, 404),
    Said("", "The model `gpt-4-32k` does not exist or you do not have access to it."),
    Said("", "Image generation failed: the image size must be at most 1024x1024"),
    Said("", "The audio is too long: 1600 seconds is longer than the maximum of 1400 seconds for this model"),
    Said("", "CUDA out of memory. Tried to allocate 2.00 GiB"),
    Said("", "max_num_seqs (512) must be greater than 0 and at most 256"),
    Said("", "top_logprobs must be less than or equal to 20"),
    Said("", "Invalid value for 'n': must be at most 128"),
    Said("", "Invalid token: token is expired"),
    Said("", "You have run out of tokens for this month. Upgrade your plan."),
    Said("", "Service tier capacity exceeded for this model."),
    Said(
        "",
        "The maximum tokens you requested exceeds the model limit of 10000. Try again with a maximum tokens value that is lower than 10000.",
    ),
    Said("", "Batch size 300 exceeds the maximum allowed batch size 256"),
)
"""What only sounds like it; without a source where the words are a provider's as remembered."""
