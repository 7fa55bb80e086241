"""What each integration adds to a tool call, in the framework's own environment and beside the SDK's own costs."""
