"""
Wrap tool calls: the agent gets a digest, repeats become counts, a call that cannot work is refused, a loop ends.

Run: python quickstart.py.
"""

import sqlite3

import otel_errcompact as errcompact

DATABASE = sqlite3.connect(":memory:")
DATABASE.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount_cents INTEGER)")


@errcompact.compacted
def query(sql: str) -> list[tuple[int]]:
    """Ask the database."""
    return DATABASE.execute(sql).fetchall()


def main() -> None:
    """Play an agent that errs once, and another that never learns."""
    errcompact.install()  # counters, and the raw errors in a file; it says where

    with errcompact.run(agent="good") as run:
        print(query("SELECT SUM(amount) FROM orders"))  # a digest is all the agent reads ...
        print(query("SELECT SUM(amount_cents) FROM orders"))  # ... and enough to mend its query
    print(run.report().to_markdown())

    with errcompact.run(agent="stubborn") as run:
        try:
            for _ in range(10):
                print(query("SELECT SUM(amount) FROM orders"))
        except errcompact.RunHalted as stop:
            print(f"stopped: {stop}\n")
    print(run.report().to_markdown())


if __name__ == "__main__":
    main()
