"""How well errors are told apart and how little of them is shown, on labelled data and beside other tools."""
