"""Failures of Ruby; the samples of Ruby 3.4 and Rails are written from their documentation."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

NEW = """\
lib/cart.rb:7:in 'Integer#*': nil can't be coerced into Integer (TypeError)
\tfrom lib/cart.rb:7:in 'block in Cart#total'
\tfrom lib/cart.rb:6:in 'Array#each'
\tfrom lib/cart.rb:6:in 'Cart#total'
\tfrom bin.rb:3:in '<main>'
"""


def test_ruby_3_4():
    """From 3.4 on Ruby quotes with apostrophes and names the class of each method."""
    found = facts(NEW)
    assert (found.type, str(found.location), found.cause, found.format) == (
        "TypeError",
        "Cart#total (lib/cart.rb:7)",
        "nil can't be coerced into Integer",
        "ruby",
    )


def test_gem():
    """The innermost own frame is the place; the gem in which it was raised is named without its folder."""
    found = facts(
        "/home/dev/.gem/ruby/3.1.0/gems/faraday-2.9/lib/faraday.rb:9:in `get': 503 (Faraday::ServerError)\n"
        "\tfrom app/sync.rb:4:in `rescue in run'\n\tfrom app/sync.rb:2:in `run'\n\tfrom app/sync.rb:9:in `<main>'\n"
    )
    assert (found.type, str(found.location)) == ("Faraday::ServerError", "run (app/sync.rb:4)")
    assert found.details == ("raised in get (faraday-2.9/lib/faraday.rb:9)",)


def test_cause():
    """An exception is followed by its cause, which is the root."""
    found = facts(
        "app.rb:7:in `load': bad config (ArgumentError)\n\tfrom app.rb:9:in `<main>'\n"
        "parse.rb:3:in `parse': unexpected end (ParseError)\n\tfrom app.rb:5:in `load'\n"
        "something else\napp.rb:9:in `last': unhandled exception\n"
    )
    assert (found.type, found.cause, found.details[0]) == (
        "RuntimeError",
        "unhandled exception",
        "also ParseError at parse (parse.rb:3): unexpected end",
    )


def test_long_statement_of_sql():
    """However long the statement is that Rails repeats, its error stands above it and its cause below."""
    columns = "".join(f'  "a{number}" integer,\n' for number in range(60))
    said = f'ERROR:  relation "users" does not exist\n: CREATE TABLE "carts" (\n{columns})\n'
    place = "/srv/shop/db/migrate/2019_create_carts.rb:3:in `change'\n"
    found = facts(
        "== 2019 CreateCarts: migrating ===\n-- create_table(:carts)\nrails aborted!\n"
        "StandardError: An error has occurred, this and all later migrations canceled:\n\n"
        f"PG::UndefinedTable: {said}{place}\nCaused by:\nActiveRecord::StatementInvalid: PG::UndefinedTable: {said}"
        f'{place}\nCaused by:\nPG::UndefinedTable: ERROR:  relation "users" does not exist\n{place}'
        "Tasks: TOP => db:migrate\n(See full trace by running task with --trace)"
    )
    assert (found.format, found.type, found.cause) == (
        "ruby",
        "PG::UndefinedTable",
        'ERROR:  relation "users" does not exist',
    )
    assert str(found.location) == "change (/srv/shop/db/migrate/2019_create_carts.rb:3)"
    assert found.details[0].startswith("raised as ActiveRecord::StatementInvalid, then as StandardError")


def test_rake():
    """What a task raised stands below the word of rake, whatever the class is called."""
    found = facts(
        "rake aborted!\nSequel::Closed: the pool is gone\n/srv/shop/Rakefile:2:in `block in <top (required)>'\n"
        "Tasks: TOP => load\n(See full trace by running task with --trace)"
    )
    assert (found.type, found.cause, str(found.location)) == (
        "Sequel::Closed",
        "the pool is gone",
        "/srv/shop/Rakefile:2",
    )


def test_without_callers():
    """An exception at the top level has no callers, and its cause follows at once."""
    found = facts("a.rb:1:in `<main>': boom (A::Error)\nb.rb:2:in `y': bam (B::Error)\n\tfrom b.rb:9:in `<main>'\n")
    assert (found.type, found.wrappers, found.details) == (
        "B::Error",
        ("A::Error",),
        ("raised as A::Error at a.rb:1: boom",),
    )


def test_reversed():
    """On terminals Ruby 2.5 to 2.7 printed the exception last."""
    found = facts(
        "Traceback (most recent call last):\n\t1: from app.rb:9:in `<main>'\n"
        "app.rb:5:in `load': no config (LoadError)\n"
    )
    assert (found.type, str(found.location), found.cause) == ("LoadError", "load (app.rb:5)", "no config")


@pytest.mark.parametrize(
    ("text", "kind", "location", "cause"),
    [
        pytest.param(
            "NoMethodError (undefined method `name' for nil:NilClass):\n  \napp/models/user.rb:10:in `label'\n"
            "app/views/users/show.html.erb:3:in `_app_views'\n",
            "NoMethodError",
            "label (app/models/user.rb:10)",
            "undefined method `name' for nil:NilClass",
            id="rails",
        ),
        pytest.param(
            "rake aborted!\nNameError: uninitialized constant Shop\n/home/dev/shop/Rakefile:3:in `block in <top "
            "(required)>'\n"
            "Tasks: TOP => default\n(See full trace by running task with --trace)\n",
            "NameError",
            "/home/dev/shop/Rakefile:3",
            "uninitialized constant Shop",
            id="rake",
        ),
        pytest.param(
            "app.rb:3:in `raise': oh (my) dear\n\tfrom app.rb:3:in `run'\n",
            "RuntimeError",
            "run (app.rb:3)",
            "oh (my) dear",
            id="untyped",
        ),
        pytest.param(
            "<internal:kernel>:18:in `loop': stop (StopIteration)\n\tfrom <internal:kernel>:1:in `x'\n",
            "StopIteration",
            "loop (<internal:kernel>:18)",
            "stop",
            id="nothing of one's own",
        ),
        pytest.param(
            "cart.rb: --> cart.rb\ncart.rb:4: syntax error, unexpected `end' (SyntaxError)\n  end\n",
            "SyntaxError",
            "cart.rb:4",
            "unexpected `end'",
            id="syntax",
        ),
        pytest.param(
            "cart.rb:2: syntax errors found (SyntaxError)\n  1 | class Cart\n> 2 |   def total(\n"
            "    |             ^ unexpected end-of-input; expected a `)`\n> 3 | end\n    |    ^ expected an `end`\n",
            "SyntaxError",
            "cart.rb:2",
            "unexpected end-of-input; expected a `)`",
            id="syntax of Ruby 3.4",
        ),
        pytest.param(
            "Fetching gem metadata\nCould not find gem 'rakee (~> 13.0)' in locally installed gems.\n",
            "BundlerError",
            "",
            "Could not find gem 'rakee (~> 13.0)' in locally installed gems.",
            id="bundler",
        ),
    ],
)
def test_forms(text, kind, location, cause):
    """Frameworks and tools print the same facts in their own ways."""
    found = facts(text)
    assert (found.type, str(found.location), found.cause) == (kind, location, cause)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("the call in app.rb:3:in `run' is slow", id="mention"),
        pytest.param("app.rb:3:in `run': warning: x is deprecated", id="warning"),
        pytest.param("profile of the last run\napp.rb:3:in `run'\napp.rb:9:in `<main>'", id="profile"),
        pytest.param("\t1: from app.rb:9:in `<main>'", id="reversed without end"),
        pytest.param("about: syntax error, see Bundler", id="prose"),
        pytest.param("rake aborted!\nit was late\n\napp.rb:3:in `run'", id="tale of rake"),
    ],
)
def test_not_taken(text):
    """Lines with a place in Ruby code that state no exception are left to others."""
    assert facts(text).format != "ruby"


def test_keys():
    """Lines do not matter; the method and the message do."""
    assert key(NEW) == key(NEW.replace(":7:", ":70:"))
    assert key(NEW) != key(NEW.replace("total", "tax"))
    assert key(NEW) != key(NEW.replace("nil", "String"))
