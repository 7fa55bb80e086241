"""One thin module for each agent framework, on its public hooks alone, independent of one another."""
