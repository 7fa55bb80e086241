"""What recorded runs say of errors in the context: tonnage, recurrence, loops, and what thresholds would have done."""
