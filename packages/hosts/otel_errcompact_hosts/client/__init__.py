"""Talk to the local service: from a host's hook, from our programs."""
