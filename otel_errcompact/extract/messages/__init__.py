"""Messages: what a sentence, a comparison, a body or a page says of an error."""
