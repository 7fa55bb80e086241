"""OpenTelemetry: names, instruments, and the span processor that feeds the ledger."""
