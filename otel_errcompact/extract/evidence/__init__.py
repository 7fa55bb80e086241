"""Lines of a text: what each is, the cause, and the evidence."""
