"""The window: a message list through the layers, within the room that is left for it."""
