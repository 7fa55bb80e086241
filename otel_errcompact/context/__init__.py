"""
The whole context window: measure a message list, compact it in layers, survive its overflow.

Works on the message lists of Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini contents. The
caller's list is never changed, whatever is cut is kept whole first, and no tool call is separated from its result.
"""
