"""Failures of PHP; the samples of Laravel are written from its documentation."""

# ruff: noqa: E501, W291, W293 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

OLD_PAGE = """

   Illuminate\\Database\\QueryException  : SQLSTATE[42S22]: Column not found: 1054 Unknown column 'x' (SQL: insert into `carts` (`x`) values (1))

  at /srv/shop/vendor/laravel/framework/src/Illuminate/Database/Connection.php:669
    665|         // If an exception occurs when attempting to run a query, we'll format the error
    668|         catch (Exception $e) {
  > 669|             throw new QueryException(
    670|                 $query, $this->prepareBindings($bindings), $e

  Exception trace:

  1   PDOException::("SQLSTATE[42S22]: Column not found: 1054 Unknown column 'x'")
      /srv/shop/vendor/doctrine/dbal/lib/Doctrine/DBAL/Driver/PDOConnection.php:61

  Please use the argument -v to see more details.
"""
NEW_PAGE = """
   Illuminate\\Database\\QueryException 

  SQLSTATE[HY000] [2002] Connection refused (Connection: mysql, SQL: select 1)

  at vendor/laravel/framework/src/Illuminate/Database/Connection.php:829
    828\u2595 
  \u279c 829\u2595             throw new QueryException(
    830\u2595                 $this->getName(), $query, $this->prepareBindings($bindings), $e

      +12 vendor frames 

  13  database/migrations/2024_create_carts.php:14
      Illuminate\\Support\\Facades\\Facade::__callStatic("create")

      +26 vendor frames 

  40  artisan:35
      Illuminate\\Foundation\\Console\\Kernel::handle()
"""
BOX = """
In box.php line 5:
                                                                                                   
  [RuntimeException]                                                                               
  SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.carts' doesn't exist (SQL: sele  
  ct * from `carts` where `carts`.`user_id` = 7 and `carts`.`user_id` is not null limit 1)         
                                                                                                   

Exception trace:
  at /srv/shop/box.php:5
 C->execute() at /usr/share/php/Symfony/Component/Console/Command/Command.php:298

go
"""

UNCAUGHT = """\
PHP Fatal error:  Uncaught Acme\\StoreException: no row 7 in table x in /srv/shop/vendor/db/Db.php:12
Stack trace:
#0 [internal function]: Db\\Connection->fetch()
#1 /srv/shop/src/Cart.php(33): Db\\Connection->query('select')
#2 /srv/shop/index.php(5): Acme\\Cart::total(Array)
#3 {main}
  thrown in /srv/shop/vendor/db/Db.php on line 12
"""


def test_uncaught():
    """PHP names with each place what is called there; the innermost own frame is the place."""
    found = facts(UNCAUGHT)
    assert (found.type, str(found.location), found.cause, found.format) == (
        "Acme\\StoreException",
        "Cart::total (/srv/shop/src/Cart.php:33)",
        "no row 7 in table x",
        "php",
    )
    assert found.details == ("raised in Connection->fetch (/srv/shop/vendor/db/Db.php:12)",)


@pytest.mark.parametrize(
    ("text", "kind", "location", "cause"),
    [
        pytest.param(
            "Parse error: syntax error, unexpected end of file in /srv/a.php on line 9",
            "ParseError",
            "/srv/a.php:9",
            "syntax error, unexpected end of file",
            id="parse error",
        ),
        pytest.param(
            "PHP Fatal error:  Allowed memory size of 128 bytes exhausted in /srv/a.php on line 3",
            "FatalError",
            "/srv/a.php:3",
            "Allowed memory size of 128 bytes exhausted",
            id="memory",
        ),
        pytest.param(
            "PHP Warning:  Undefined variable $x in /srv/a.php on line 3\nPHP Warning:  gone (on line 3)\n",
            "Warning",
            "/srv/a.php:3",
            "Undefined variable $x",
            id="warning",
        ),
        pytest.param(
            "PHP Fatal error:  Uncaught Error: no such thing in /srv/a.php:3",
            "Error",
            "/srv/a.php:3",
            "no such thing",
            id="stack cut off",
        ),
        pytest.param(
            "RuntimeException: boom in /srv/a.php:3\nStack trace:\n#0 {main}",
            "RuntimeException",
            "/srv/a.php:3",
            "boom",
            id="printed by the program",
        ),
        pytest.param(
            "PHP Fatal error:  Uncaught Error: boom of a.php: no\nStack trace:\n#0 /srv/b.php(9): run()",
            "Error",
            "/srv/b.php:9",
            "boom of a.php: no",
            id="cut off",
        ),
        pytest.param("In a.php line 3:\n\n  boom", "Exception", "a.php:3", "boom", id="box cut off"),
        pytest.param(
            '[2026-01-01 10:00:00] local.ERROR: boom {"exception":'
            '"[object] (RuntimeException(code: 0): boom at /srv/a.php:3)\n'
            '[stacktrace]\n#0 /srv/b.php(9): run()\n#1 {main}\n"}',
            "RuntimeException",
            "run (/srv/a.php:3)",
            "boom",
            id="laravel log",
        ),
        pytest.param(
            "\n   Illuminate\\Database\\QueryException \n\n  SQLSTATE[42S02]: no table carts\n\n"
            "  at app/Cart.php:12\n      8\u2595 \n  \u279c  12\u2595         DB::table('carts')->get();\n",
            "Illuminate\\Database\\QueryException",
            "app/Cart.php:12",
            "SQLSTATE[42S02]: no table carts",
            id="artisan",
        ),
        pytest.param(
            "\n  [Symfony\\Component\\Console\\Exception\\RuntimeException]\n  Not enough arguments.\n\n\n"
            "import <file>\n",
            "Symfony\\Component\\Console\\Exception\\RuntimeException",
            "",
            "Not enough arguments.",
            id="old box",
        ),
        pytest.param(
            "\nIn Kernel.php line 12:\n\n  [InvalidArgumentException (7)]\n  no such env\n\n\nserve\n",
            "InvalidArgumentException",
            "Kernel.php:12",
            "no such env",
            id="box with type",
        ),
    ],
)
def test_forms(text, kind, location, cause):
    """PHP, its consoles and its frameworks print the same facts in their own ways."""
    found = facts(text)
    assert (found.type, str(found.location), found.cause, found.format) == (kind, location, cause, "php")


@pytest.mark.parametrize(
    ("text", "kind", "location", "cause", "details"),
    [
        pytest.param(OLD_PAGE, "Illuminate\\Database\\QueryException", "/srv/shop/vendor/laravel/framework/src/Illuminate/Database/Connection.php:669", "SQLSTATE[42S22]: Column not found: 1054 Unknown column 'x' (SQL: insert into `carts` (`x`) values (1))", ("> throw new QueryException(",), id="one line"),
        pytest.param(NEW_PAGE, "Illuminate\\Database\\QueryException", "database/migrations/2024_create_carts.php:14", "SQLSTATE[HY000] [2002] Connection refused (Connection: mysql, SQL: select 1)", ("raised in vendor/laravel/framework/src/Illuminate/Database/Connection.php:829",), id="with a trace"),
        pytest.param(BOX, "RuntimeException", "/srv/shop/box.php:5", "SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.carts' doesn't exist (SQL: select * from `carts` where `carts`.`user_id` = 7 and `carts`.`user_id` is not null limit 1)", (), id="box"),
    ],
)  # fmt: skip
def test_consoles(text, kind, location, cause, details):
    """A message that the terminal wrapped is whole again, and a trace leads to own code."""
    found = facts(text)
    assert (found.format, found.type, str(found.location), found.cause) == ("php", kind, location, cause)
    assert found.details == details


def test_composer():
    """Composer's problems are what it cannot resolve; where it looked for settings says nothing."""
    found = facts(
        "Your requirements could not be resolved to an installable set of packages.\n\n  Problem 1\n"
        "    - Root composer.json requires acme/tax ^9, it could not be found.\n    - see the name\n  Problem 2\n"
        "    - php is too old.\n      (8.1)\n\nTo enable extensions ...\n"
    )
    assert (found.type, found.cause, found.details) == (
        "ComposerUnresolvable",
        "Root composer.json requires acme/tax ^9, it could not be found",
        ("php is too old", "see the name"),
    )


def test_composer_cut_off():
    """Without its problems Composer's sentence is all there is."""
    found = facts("$ composer install\nYour requirements could not be resolved to an installable set of packages.\ncut")
    assert found.cause == "Your requirements could not be resolved to an installable set of packages"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("see a.php:3 and composer", id="mention"),
        pytest.param("#1 {main}\nStack trace:\n#0 a.php:3", id="stack without head"),
        pytest.param("PHP Fatal error:  boom, see a.php:3", id="no place"),
        pytest.param("  [note]\n", id="bracket"),
        pytest.param("In a.php line 3:\n\nnothing boxed", id="no box"),
        pytest.param("  at app/Cart.php:12\nx", id="place alone"),
        pytest.param("  Foo\n  at app/Cart.php:12", id="type alone"),
        pytest.param("  RuntimeException\n\n  at app/Cart.php:12", id="no message"),
        pytest.param("  ValueError : if it is negative\n\n  at app/Cart.php:12", id="description of a parameter"),
    ],
)
def test_not_taken(text):
    """Texts that merely name PHP files are left to others."""
    assert facts(text).format != "php"


def test_keys():
    """Lines do not matter; the function and the message do."""
    assert key(UNCAUGHT) == key(UNCAUGHT.replace("(33)", "(40)"))
    assert key(UNCAUGHT) != key(UNCAUGHT.replace("Cart::total", "Cart::tax"))
    assert key(UNCAUGHT) != key(UNCAUGHT.replace("table x", "table y"))
