"""A message list through the layers, within its room."""
