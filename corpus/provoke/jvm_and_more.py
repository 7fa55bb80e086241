"""Failures of Java, Kotlin, Scala, Clojure, Mono, Ruby and PHP programs, of their test runners and of Maven."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from corpus.provoke.case import Case
from corpus.provoke.tools import succeeds

if TYPE_CHECKING:
    from pathlib import Path

_LIBRARIES: Final = {
    "junit": (("org.junit.platform", "junit-platform-console-standalone", "1.10.2"),),
    "testng": (("org.testng", "testng", "7.10.2"), ("org.slf4j", "slf4j-nop", "2.0.13")),
    "kotlin": (("org.jetbrains.kotlin", "kotlin-compiler-embeddable", "1.9.24"),),
    "scala": (("org.scala-lang", "scala3-compiler_3", "3.3.3"), ("org.scalatest", "scalatest_3", "3.2.18")),
    "clojure": (("org.clojure", "clojure", "1.11.3"),),
    "spring": (
        ("org.springframework.boot", "spring-boot-starter-web", "3.2.5"),
        ("org.springframework.boot", "spring-boot-starter-data-jpa", "3.2.5"),
        ("com.h2database", "h2", "2.2.224"),
    ),
}
"""What each set of cases runs with, from Maven Central."""


def prepare(tools: Path) -> None:
    """
    Copy the libraries of each set to `$TOOLS/lib/<set>`.
    """
    for name, artifacts in _LIBRARIES.items():
        target = tools / "lib" / name
        if target.is_dir() and any(target.iterdir()):
            continue
        pom = tools / f"{name}.xml"
        pom.write_text(_pom(*(_dependency(*artifact, scope="compile") for artifact in artifacts)), encoding="utf-8")
        if not succeeds(
            "mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={target}"
        ):
            print(f"not all installed: the libraries of {name}", file=sys.stderr)


def _dependency(group: str, artifact: str, version: str, scope: str = "test") -> str:
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><scope>{scope}</scope></dependency>"
    )


def _pom(*dependencies: str, surefire: str = "3.2.5", name: str = "shop") -> str:
    return f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.acme</groupId>
  <artifactId>{name}</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>{"".join(dependencies)}</dependencies>
  <build><plugins>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>{surefire}</version></plugin>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.11.0</version></plugin>
  </plugins></build>
</project>
"""


_JUPITER: Final = _dependency("org.junit.jupiter", "junit-jupiter", "5.10.2")
_JUNIT4: Final = _dependency("junit", "junit", "4.13.2")

_NEUTRAL: Final = r"perl -pe 's{https?://(?!cwiki)[^ )]+}{https://maven.example.com/maven2}g'"
"""Which repository answers is the machine's own affair."""

# --- Java and its neighbours -----------------------------------------------------------------------------------------

_CHAIN: Final = """\
package com.acme.billing;

import java.util.*;
import java.util.concurrent.*;

public class Main {
    static class Ledger {
        private final Map<String, Integer> balances = Map.of("ann", 10);

        int balance(String account) {
            return balances.get(account);
        }
    }

    static class Billing {
        private final Ledger ledger = new Ledger();

        int charge(List<String> accounts) {
            try {
                return accounts.stream().mapToInt(account -> ledger.balance(account)).sum();
            } catch (RuntimeException e) {
                throw new IllegalStateException("cannot charge " + accounts, e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            pool.submit(() -> new Billing().charge(List.of("ann", "bob"))).get();
        } catch (ExecutionException e) {
            throw new RuntimeException("nightly run aborted", e);
        } finally {
            pool.shutdown();
        }
    }
}
"""

_SUPPRESSED: Final = """\
package com.acme.io;

import java.io.*;
import java.nio.file.*;

public class Importer {
    static class Spool implements AutoCloseable {
        void load(Path path) throws IOException {
            Files.readString(path);
        }

        @Override
        public void close() throws IOException {
            throw new IOException("spool not flushed");
        }
    }

    public static void main(String[] args) throws IOException {
        System.out.println("importing 3 files");
        try (Spool spool = new Spool()) {
            spool.load(Path.of("orders.csv"));
        }
    }
}
"""

_LOGGED: Final = """\
package com.acme.shop;

import java.util.logging.*;

public class Worker {
    private static final Logger LOG = Logger.getLogger(Worker.class.getName());

    static int parse(String quantity) {
        return Integer.parseInt(quantity.trim());
    }

    static void handle(String message) {
        try {
            parse(message);
        } catch (NumberFormatException e) {
            LOG.log(Level.SEVERE, "message dropped", e);
        }
    }

    public static void main(String[] args) {
        LOG.info("worker started");
        handle("12");
        handle("twelve");
        LOG.info("worker stopped");
        System.exit(3);
    }
}
"""

_RECURSION: Final = """\
package com.acme.tree;

public class Walker {
    record Node(String name, Node parent) {}

    static int depth(Node node) {
        return 1 + parentDepth(node);
    }

    static int parentDepth(Node node) {
        return node == null ? depth(new Node("root", null)) : depth(node);
    }

    public static void main(String[] args) {
        System.out.println(depth(new Node("leaf", null)));
    }
}
"""

_KOTLIN: Final = """\
package com.acme.cart

data class Item(val sku: String, val price: Int)

class Cart(private val items: Map<String, Item>) {
    fun total(skus: List<String>): Int = skus.sumOf { sku -> price(sku) }

    private fun price(sku: String): Int = items.getValue(sku).price
}

fun main() {
    println(Cart(mapOf("pen" to Item("pen", 2))).total(listOf("pen", "ink")))
}
"""

_SCALA: Final = """\
package acme.stock

case class Item(sku: String, count: Int)

class Stock(items: List[Item]):
  def take(sku: String): Item =
    items.find(_.sku == sku).map(item => item.copy(count = item.count / 0)).get

@main def run(): Unit =
  println(Stock(List(Item("pen", 3))).take("pen"))
"""

_CLOJURE: Final = """\
(ns acme.report)

(defn mean [xs]
  (/ (reduce + xs) (count xs)))

(defn report [rows]
  (map mean rows))

(println (doall (report [[1 2] []])))
"""

_SPRING: Final = """\
package com.acme.web;

import jakarta.persistence.*;
import org.springframework.boot.*;
import org.springframework.boot.autoconfigure.*;
import org.springframework.data.jpa.repository.*;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.stereotype.Service;

@SpringBootApplication
@EnableJpaRepositories(considerNestedRepositories = true)
public class ShopApplication {
    @Entity
    public static class Customer {
        @Id
        public Long id;
        public String email;
    }

    interface CustomerRepository extends JpaRepository<Customer, Long> {
        Customer findByEmial(String email);
    }

    @Service
    static class CustomerService {
        CustomerService(CustomerRepository customers) {}
    }

    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }
}
"""

_SPRING_NO_BEAN: Final = """\
package com.acme.web;

import org.springframework.boot.*;
import org.springframework.boot.autoconfigure.*;
import org.springframework.stereotype.Service;

@SpringBootApplication
public class ShopApplication {
    interface Mailer {}

    @Service
    static class SignupService {
        SignupService(Mailer mailer) {}
    }

    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }
}
"""

_JAVA: Final = "mkdir -p out && javac -d out"

_JVM: Final = [
    Case(
        name="chain",
        format="jvm",
        command="java -cp out com.acme.billing.Main",
        setup=f"{_JAVA} Main.java",
        files={"Main.java": _CHAIN},
        needs=("javac",),
    ),
    Case(
        name="suppressed",
        format="jvm",
        command="java -cp out com.acme.io.Importer",
        setup=f"{_JAVA} Importer.java",
        files={"Importer.java": _SUPPRESSED},
        needs=("javac",),
    ),
    Case(
        name="logged",
        format="jvm",
        command="java -cp out com.acme.shop.Worker",
        setup=f"{_JAVA} Worker.java",
        files={"Worker.java": _LOGGED},
        needs=("javac",),
    ),
    Case(
        name="recursion",
        format="jvm",
        command="java -XX:MaxJavaStackTraceDepth=60 -cp out com.acme.tree.Walker",
        setup=f"{_JAVA} Walker.java",
        files={"Walker.java": _RECURSION},
        needs=("javac",),
    ),
    Case(
        name="cut_tail",
        format="jvm",
        command="java -cp out com.acme.billing.Main 2>&1 | tail -n 24",
        setup=f"{_JAVA} Main.java",
        files={"Main.java": _CHAIN},
        needs=("javac",),
    ),
    Case(name="no_main_class", format="jvm", command="java -cp out com.acme.Missing", needs=("java",)),
    Case(
        name="kotlin",
        format="jvm",
        command='java -cp "out:$TOOLS/lib/kotlin/*" com.acme.cart.CartKt',
        setup='java -cp "$TOOLS/lib/kotlin/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-reflect -no-stdlib '
        '-cp "$(ls $TOOLS/lib/kotlin/kotlin-stdlib-1*.jar)" -d out Cart.kt',
        files={"Cart.kt": _KOTLIN},
        needs=("java",),
    ),
    Case(
        name="scala",
        format="jvm",
        command='java -cp "out:$TOOLS/lib/scala/*" acme.stock.run',
        setup='mkdir -p out && java -cp "$TOOLS/lib/scala/*" dotty.tools.dotc.Main -usejavacp -d out Stock.scala',
        files={"Stock.scala": _SCALA},
        needs=("java",),
    ),
    Case(
        name="clojure",
        format="jvm",
        command='java -cp "$TOOLS/lib/clojure/*" clojure.main report.clj',
        files={"report.clj": _CLOJURE},
        needs=("java",),
    ),
    Case(
        name="spring_query",
        format="jvm",
        command='java -cp "out:$TOOLS/lib/spring/*" com.acme.web.ShopApplication --server.port=0 '
        "--spring.main.banner-mode=off 2>&1 | tail -n 60",
        setup=f'{_JAVA} -parameters -cp "$TOOLS/lib/spring/*" ShopApplication.java',
        files={"ShopApplication.java": _SPRING},
        needs=("javac",),
    ),
    Case(
        name="spring_no_bean",
        format="jvm",
        command='java -cp "out:$TOOLS/lib/spring/*" com.acme.web.ShopApplication --server.port=0 '
        "--spring.main.banner-mode=off",
        setup=f'{_JAVA} -cp "$TOOLS/lib/spring/*" ShopApplication.java',
        files={"ShopApplication.java": _SPRING_NO_BEAN},
        needs=("javac",),
    ),
]

# --- tests of the JVM ------------------------------------------------------------------------------------------------

_PRICES: Final = """\
package com.acme;

import java.util.*;

public class Prices {
    private final Map<String, Integer> cents = new HashMap<>();

    public Prices() {
        cents.put("pen", 150);
    }

    public int of(String sku) {
        return cents.get(sku);
    }

    public int total(List<String> skus, int discount) {
        return skus.stream().mapToInt(this::of).sum() * (100 + discount) / 100;
    }

    public String label(String sku) {
        return sku.toUpperCase() + ": " + of(sku) / 100 + " EUR";
    }
}
"""

_PRICES_TEST: Final = """\
package com.acme;

import static org.junit.jupiter.api.Assertions.*;

import java.util.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PricesTest {
    private final Prices prices = new Prices();

    @Test
    void knowsThePen() {
        assertEquals(150, prices.of("pen"));
    }

    @Test
    void subtractsTheDiscount() {
        assertEquals(135, prices.total(List.of("pen"), 10), "ten percent off");
    }

    @Test
    void labels() {
        assertEquals("PEN: 1.50 EUR", prices.label("pen"));
    }

    @Test
    void pricesOfUnknownGoods() {
        assertEquals(0, prices.of("ink"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ink", "cap"})
    void totalsUnknownGoods(String sku) {
        assertTrue(prices.total(List.of(sku), 0) >= 0);
    }

    @Test
    void complainsAboutNull() {
        assertThrows(IllegalArgumentException.class, () -> prices.label(null));
    }
}
"""

_STORE_TEST: Final = """\
package com.acme;

import static org.junit.jupiter.api.Assertions.*;

import java.util.Properties;
import org.junit.jupiter.api.*;

class StoreTest {
    private Properties settings;

    @BeforeEach
    void open() throws Exception {
        settings = new Properties();
        settings.load(StoreTest.class.getResourceAsStream("/store.properties"));
    }

    @Test void reads() { assertNotNull(settings); }
    @Test void writes() { assertNotNull(settings); }
    @Test void lists() { assertNotNull(settings); }
    @Test void deletes() { assertNotNull(settings); }
    @Test void renames() { assertNotNull(settings); }
}
"""

_JUNIT4_TEST: Final = """\
package com.acme;

import static org.junit.Assert.*;

import java.util.*;
import org.junit.Test;

public class PricesTest {
    @Test
    public void labels() {
        assertEquals("PEN: 1.50 EUR", new Prices().label("pen"));
    }

    @Test(timeout = 100)
    public void isQuick() throws Exception {
        Thread.sleep(2_000);
    }

    @Test
    public void unknownGoods() {
        new Prices().of("ink");
    }
}
"""

_TESTNG_TEST: Final = """\
package com.acme;

import static org.testng.Assert.*;

import org.testng.annotations.*;

public class PricesTest {
    @Test
    public void labels() {
        assertEquals(new Prices().label("pen"), "PEN: 1.50 EUR");
    }

    @Test
    public void unknownGoods() {
        new Prices().of("ink");
    }
}
"""

_SCALATEST: Final = """\
package acme

import org.scalatest.funsuite.AnyFunSuite

class QueueSuite extends AnyFunSuite:
  private def settings(): String = scala.io.Source.fromFile("queue.conf").mkString

  test("an empty queue has size 0"):
    assert(List.empty[Int].size == 0)

  test("push makes the queue longer"):
    val queue = List(1, 2)
    assert((3 :: queue).size == 4)

  test("settings name the queue"):
    assert(settings().contains("name"))

  test("settings give a size"):
    assert(settings().contains("size"))
"""

_MAVEN_TEST: Final = "mvn -B test"
_WARM: Final = f"{_MAVEN_TEST} >/dev/null 2>&1"
_MAIN: Final = "src/main/java/com/acme"
_TEST: Final = "src/test/java/com/acme"

_JUNIT: Final = [
    Case(
        name="surefire",
        format="junit",
        command=_MAVEN_TEST,
        setup=_WARM,
        files={
            "pom.xml": _pom(_JUPITER),
            f"{_MAIN}/Prices.java": _PRICES,
            f"{_TEST}/PricesTest.java": _PRICES_TEST.replace('{"ink", "cap"}', '{"ink"}'),
        },
        needs=("mvn",),
    ),
    Case(
        name="surefire_one_cause",
        format="junit",
        command=_MAVEN_TEST,
        setup=_WARM,
        files={"pom.xml": _pom(_JUPITER), f"{_TEST}/StoreTest.java": _STORE_TEST},
        needs=("mvn",),
    ),
    Case(
        name="surefire_cut",
        format="junit",
        command=f"{_MAVEN_TEST} | tail -n 28",
        setup=_WARM,
        files={
            "pom.xml": _pom(_JUPITER),
            f"{_MAIN}/Prices.java": _PRICES,
            f"{_TEST}/PricesTest.java": _PRICES_TEST,
        },
        needs=("mvn",),
    ),
    Case(
        name="surefire_junit4",
        format="junit",
        command=_MAVEN_TEST,
        setup=_WARM,
        files={
            "pom.xml": _pom(_JUNIT4, surefire="2.22.2"),
            f"{_MAIN}/Prices.java": _PRICES,
            f"{_TEST}/PricesTest.java": _JUNIT4_TEST,
        },
        needs=("mvn",),
    ),
    Case(
        name="console",
        format="junit",
        command="java -jar $TOOLS/lib/junit/*.jar execute --class-path out --scan-class-path --disable-ansi-colors",
        setup=f'{_JAVA} -cp "$TOOLS/lib/junit/*" Prices.java PricesTest.java',
        files={"Prices.java": _PRICES, "PricesTest.java": _PRICES_TEST},
        needs=("javac",),
    ),
    Case(
        name="junit4_runner",
        format="junit",
        command='java -cp "out:$TOOLS/lib/junit4/*" org.junit.runner.JUnitCore com.acme.PricesTest',
        setup="mkdir -p $TOOLS/lib/junit4 && cp ~/.m2/repository/junit/junit/4.13.2/*.jar "
        "~/.m2/repository/org/hamcrest/hamcrest-core/1.3/*.jar $TOOLS/lib/junit4; "
        f'{_JAVA} -cp "$TOOLS/lib/junit4/*" Prices.java PricesTest.java',
        files={"Prices.java": _PRICES, "PricesTest.java": _JUNIT4_TEST},
        needs=("javac",),
    ),
    Case(
        name="testng",
        format="junit",
        command='java -cp "out:$TOOLS/lib/testng/*" org.testng.TestNG -verbose 2 -testclass com.acme.PricesTest',
        setup=f'{_JAVA} -cp "$TOOLS/lib/testng/*" Prices.java PricesTest.java',
        files={"Prices.java": _PRICES, "PricesTest.java": _TESTNG_TEST},
        needs=("javac",),
    ),
    Case(
        name="scalatest",
        format="junit",
        command='java -cp "out:$TOOLS/lib/scala/*" org.scalatest.tools.Runner -oW -R out -s acme.QueueSuite',
        setup='mkdir -p out && java -cp "$TOOLS/lib/scala/*" dotty.tools.dotc.Main -usejavacp -d out QueueSuite.scala',
        files={"QueueSuite.scala": _SCALATEST},
        needs=("java",),
    ),
]

# --- Maven -----------------------------------------------------------------------------------------------------------

_BROKEN: Final = """\
package com.acme;

import com.acme.tax.TaxTable;
import java.util.List;

public class Invoice {
    private final List<Integer> lines = List.of(1, 2);

    public int total() {
        return lines.sum();
    }

    public String label() {
        return total();
    }

    public int taxed() {
        return TaxTable.of(total()) + shipping;
    }
}
"""

_MAVEN: Final = [
    Case(
        name="one_symbol",
        format="maven",
        command="mvn -B compile",
        setup="mvn -B compile >/dev/null 2>&1",
        files={
            "pom.xml": _pom(),
            f"{_MAIN}/Prices.java": _PRICES.replace("cents.get(sku)", "cnets.get(sku)"),
        },
        needs=("mvn",),
    ),
    Case(
        name="compile_errors",
        format="maven",
        command="mvn -B compile",
        setup="mvn -B compile >/dev/null 2>&1",
        files={"pom.xml": _pom(), f"{_MAIN}/Invoice.java": _BROKEN},
        needs=("mvn",),
    ),
    Case(
        name="missing_artifact",
        format="maven",
        command=f"mvn -B compile 2>&1 | {_NEUTRAL}",
        setup="mvn -B compile >/dev/null 2>&1",
        files={
            "pom.xml": _pom(_dependency("com.fasterxml.jackson.core", "jackson-databnid", "2.17.0", "compile")),
            f"{_MAIN}/Prices.java": _PRICES,
        },
        needs=("mvn",),
    ),
    Case(
        name="unreadable_pom",
        format="maven",
        command="mvn -B package",
        files={"pom.xml": _pom().replace("</properties>", "</property>")},
        needs=("mvn",),
    ),
    Case(
        name="no_version",
        format="maven",
        command="mvn -B package",
        files={"pom.xml": _pom(_JUPITER.replace("<version>5.10.2</version>", ""))},
        needs=("mvn",),
    ),
    Case(name="no_pom", format="maven", command="mvn -B package", needs=("mvn",)),
    Case(
        name="unknown_phase",
        format="maven",
        command="mvn -B biuld",
        files={"pom.xml": _pom()},
        needs=("mvn",),
    ),
    Case(
        name="test_compile",
        format="maven",
        command="mvn -B -ntp verify",
        setup="mvn -B verify >/dev/null 2>&1",
        files={
            "pom.xml": _pom(_JUPITER),
            f"{_MAIN}/Prices.java": _PRICES,
            f"{_TEST}/PricesTest.java": _PRICES_TEST.replace("prices.of(", "prices.priceOf("),
        },
        needs=("mvn",),
    ),
]

# --- .NET ------------------------------------------------------------------------------------------------------------

_CSHARP_CHAIN: Final = """\
using System;
using System.Collections.Generic;

namespace Acme.Billing
{
    class Ledger
    {
        readonly Dictionary<string, int> balances = new Dictionary<string, int> { { "ann", 10 } };

        public int Balance(string account)
        {
            return balances[account];
        }
    }

    static class Program
    {
        static int Charge(string account)
        {
            try
            {
                return new Ledger().Balance(account);
            }
            catch (KeyNotFoundException e)
            {
                throw new InvalidOperationException("cannot charge " + account, e);
            }
        }

        static void Main()
        {
            Console.WriteLine("charging 2 accounts");
            Charge("ann");
            Charge("bob");
        }
    }
}
"""

_CSHARP_TASKS: Final = """\
using System;
using System.IO;
using System.Threading.Tasks;

class Program
{
    static async Task<string> Load(string name)
    {
        await Task.Delay(1);
        return File.ReadAllText(Path.Combine("data", name));
    }

    static void Main()
    {
        Task.WaitAll(Load("orders.csv"), Load("items.csv"));
    }
}
"""

_CSHARP_NULL: Final = """\
using System;

class Address { public string City; }
class Customer { public Address Address; }

class Program
{
    static string City(Customer customer)
    {
        return customer.Address.City.ToUpper();
    }

    static void Main()
    {
        Console.WriteLine(City(new Customer()));
    }
}
"""

_MONO: Final = "mono --debug Program.exe"
_MCS: Final = "mcs -debug -out:Program.exe Program.cs"

_DOTNET: Final = [
    Case(name="inner", format="dotnet", command=_MONO, setup=_MCS, files={"Program.cs": _CSHARP_CHAIN}, needs=("mcs",)),
    Case(
        name="aggregate",
        format="dotnet",
        command=_MONO,
        setup=_MCS,
        files={"Program.cs": _CSHARP_TASKS},
        needs=("mcs",),
    ),
    Case(name="null", format="dotnet", command=_MONO, setup=_MCS, files={"Program.cs": _CSHARP_NULL}, needs=("mcs",)),
    Case(
        name="compile",
        format="dotnet",
        command="mcs -out:Program.exe Program.cs",
        files={
            "Program.cs": _CSHARP_NULL.replace("City.ToUpper", "City.ToUper").replace("new Customer", "new Custmer")
        },
        needs=("mcs",),
    ),
    Case(
        name="no_symbols",
        format="dotnet",
        command="mono Program.exe",
        setup="mcs -out:Program.exe Program.cs",
        files={"Program.cs": _CSHARP_NULL},
        needs=("mcs",),
    ),
]

# --- Ruby ------------------------------------------------------------------------------------------------------------

_RUBY_CHAIN: Final = """\
require "json"

class Config
  def self.load(path)
    JSON.parse(File.read(path))
  rescue JSON::ParserError => e
    raise ArgumentError, "bad config #{path}"
  end
end

class App
  def start
    config = Config.load("config.json")
    puts config.fetch("port")
  end
end

App.new.start
"""

_RUBY_NIL: Final = """\
Order = Struct.new(:customer, :lines)

def total(order)
  order.lines.sum { |line| line[:price] * line[:count] }
end

orders = [Order.new("ann", [{ price: 3, count: 2 }]), Order.new("bob", [{ price: 3 }])]
orders.each { |order| puts total(order) }
"""

_RUBY_SYNTAX: Final = """\
class Cart
  def total
    @lines.sum { |line| line.price
  end
end
"""

_RUBY: Final = [
    Case(
        name="cause",
        format="ruby",
        command="ruby app.rb",
        files={"app.rb": _RUBY_CHAIN, "config.json": '{"port": 80'},
        needs=("ruby",),
    ),
    Case(name="type_error", format="ruby", command="ruby orders.rb", files={"orders.rb": _RUBY_NIL}, needs=("ruby",)),
    Case(
        name="reversed",
        format="ruby",
        command='ruby -e \'begin; load "orders.rb"; rescue => e; '
        "STDERR.puts e.full_message(highlight: false, order: :bottom); exit 1; end'",
        files={"orders.rb": _RUBY_NIL},
        needs=("ruby",),
    ),
    Case(name="syntax", format="ruby", command="ruby cart.rb", files={"cart.rb": _RUBY_SYNTAX}, needs=("ruby",)),
    Case(
        name="load_error",
        format="ruby",
        command="ruby app.rb",
        files={"app.rb": 'puts "starting"\nrequire "sinatra/activerecord"\n'},
        needs=("ruby",),
    ),
    Case(
        name="name_error",
        format="ruby",
        command="ruby app.rb",
        files={"app.rb": "class App\n  def run\n    pritn 1\n  end\nend\n\nApp.new.run\n"},
        needs=("ruby",),
    ),
    Case(
        name="recursion",
        format="ruby",
        command="ruby --backtrace-limit=12 tree.rb",
        files={
            "tree.rb": "def depth(node)\n  1 + parent_depth(node)\nend\n\n"
            "def parent_depth(node)\n  depth(node)\nend\n\nputs depth(1)\n"
        },
        needs=("ruby",),
    ),
    Case(
        name="bundler",
        format="ruby",
        command="bundle exec ruby app.rb",
        files={"Gemfile": 'source "https://rubygems.org"\n\ngem "rakee", "~> 13.0"\n', "app.rb": "puts 1\n"},
        needs=("bundle",),
    ),
    Case(
        name="undefined_gemfile",
        format="ruby",
        command="bundle exec ruby app.rb",
        files={"Gemfile": 'source "https://rubygems.org"\n\ngme "rake"\n', "app.rb": "puts 1\n"},
        needs=("bundle",),
    ),
]

_CART_RB: Final = """\
class Cart
  def initialize(prices)
    @prices = prices
  end

  def total(skus, discount: 0)
    skus.sum { |sku| @prices[sku] * (100 + discount) / 100 }
  end

  def label(sku)
    "#{sku}: #{@prices.fetch(sku)}"
  end
end
"""

_CART_SPEC: Final = """\
require_relative "../cart"

RSpec.describe Cart do
  subject(:cart) { described_class.new("pen" => 150) }

  it "knows the pen" do
    expect(cart.total(["pen"])).to eq(150)
  end

  it "subtracts the discount" do
    expect(cart.total(["pen"], discount: 10)).to eq(135)
  end

  it "labels goods" do
    expect(cart.label("pen")).to start_with("PEN")
  end

  context "with unknown goods" do
    it "totals them" do
      expect(cart.total(["ink"])).to eq(0)
    end

    it "totals several" do
      expect(cart.total(%w[pen ink])).to eq(150)
    end

    it "labels them" do
      expect { cart.label("ink") }.to raise_error(ArgumentError, /unknown/)
    end
  end

  it "describes itself" do
    expect(name: "cart", prices: { "pen" => 1 }).to eq(name: "cart", prices: { "pen" => 2 })
  end
end
"""

_MINITEST: Final = """\
require "minitest/autorun"
require_relative "cart"

class CartTest < Minitest::Test
  def cart
    Cart.new("pen" => 150)
  end

  def test_discount
    assert_equal 135, cart.total(["pen"], discount: 10)
  end

  def test_unknown_goods
    assert_equal 0, cart.total(["ink"])
  end

  def test_label
    assert_includes cart.label("pen"), "EUR"
  end

  def test_pen
    assert_equal 150, cart.total(["pen"])
  end
end
"""

_RSPEC: Final = [
    Case(
        name="rspec",
        format="rspec",
        command="rspec --no-color --seed 4711",
        files={"cart.rb": _CART_RB, "spec/cart_spec.rb": _CART_SPEC},
        needs=("rspec",),
    ),
    Case(
        name="rspec_one",
        format="rspec",
        command="rspec --no-color -e 'subtracts the discount' --format documentation",
        files={"cart.rb": _CART_RB, "spec/cart_spec.rb": _CART_SPEC},
        needs=("rspec",),
    ),
    Case(
        name="rspec_load_error",
        format="rspec",
        command="rspec --no-color",
        files={"spec/cart_spec.rb": _CART_SPEC},
        needs=("rspec",),
    ),
    Case(
        name="rspec_cut",
        format="rspec",
        command="rspec --no-color --seed 4711 | tail -n 14",
        files={"cart.rb": _CART_RB, "spec/cart_spec.rb": _CART_SPEC},
        needs=("rspec",),
    ),
    Case(
        name="minitest",
        format="rspec",
        command="ruby cart_test.rb --seed 4711",
        files={"cart.rb": _CART_RB, "cart_test.rb": _MINITEST},
        needs=("ruby",),
    ),
    Case(
        name="test_unit",
        format="rspec",
        command="ruby cart_test.rb --no-use-color",
        files={
            "cart.rb": _CART_RB,
            "cart_test.rb": _MINITEST.replace("minitest/autorun", "test/unit").replace(
                "Minitest::Test", "Test::Unit::TestCase"
            ),
        },
        needs=("ruby",),
    ),
]

# --- PHP -------------------------------------------------------------------------------------------------------------

_PHP_CHAIN: Final = """\
<?php
namespace Acme\\Billing;

class Ledger
{
    public function balance(?array $row): int
    {
        return $this->cents($row['balance']);
    }

    private function cents(int $value): int
    {
        return $value * 100;
    }
}

function charge(string $account): int
{
    try {
        return (new Ledger())->balance(['balance' => null]);
    } catch (\\TypeError $e) {
        throw new \\RuntimeException("cannot charge $account", 0, $e);
    }
}

echo charge('bob');
"""

_PHP_WARNINGS: Final = """\
<?php
function load(string $path): array
{
    return json_decode(file_get_contents($path), true);
}

$settings = load('settings.json');
echo $settings['port'];
"""

_PHP_CONSOLE: Final = """\
<?php
require '/usr/share/php/Symfony/Component/Console/autoload.php';

use Symfony\\Component\\Console\\Application;
use Symfony\\Component\\Console\\Command\\Command;

class ImportCommand extends Command
{
    protected function configure(): void
    {
        $this->setName('shop:import')->addArgument('file', 1);
    }

    protected function execute($input, $output): int
    {
        throw new \\DomainException('row 7 of ' . $input->getArgument('file') . ' has no price');
    }
}

$application = new Application('shop', '1.0');
$application->add(new ImportCommand());
$application->run();
"""

_PHP: Final = [
    Case(name="chain", format="php", command="php charge.php", files={"charge.php": _PHP_CHAIN}, needs=("php",)),
    Case(name="warnings", format="php", command="php load.php", files={"load.php": _PHP_WARNINGS}, needs=("php",)),
    Case(
        name="parse",
        format="php",
        command="php -l cart.php",
        files={
            "cart.php": "<?php\nclass Cart\n{\n    public function total(): int\n    {\n        return 1\n    }\n}\n"
        },
        needs=("php",),
    ),
    Case(
        name="undefined_function",
        format="php",
        command="php -d log_errors=1 -d error_log=/dev/stderr -d display_errors=0 run.php",
        files={"run.php": "<?php\nfunction start(): void\n{\n    strat_server();\n}\n\nstart();\n"},
        needs=("php",),
    ),
    Case(
        name="missing_require",
        format="php",
        command="php run.php",
        files={"run.php": "<?php\nrequire 'vendor/autoload.php';\n\necho 1;\n"},
        needs=("php",),
    ),
    Case(
        name="console_box",
        format="php",
        command="php app.php shop:import orders.csv",
        files={"app.php": _PHP_CONSOLE},
        needs=("php",),
    ),
    Case(
        name="composer_platform",
        format="php",
        command="composer --no-interaction --no-ansi install 2>&1",
        files={
            "composer.json": '{"name": "acme/shop", "require": {"php": "^9.0", "ext-redis": "*"}, '
            '"repositories": [{"packagist.org": false}]}\n'
        },
        needs=("composer",),
    ),
    Case(
        name="composer_json",
        format="php",
        command="composer --no-interaction --no-ansi install 2>&1",
        files={"composer.json": '{"name": "acme/shop" "require": {}}\n'},
        needs=("composer",),
    ),
]

_CART_PHP: Final = """\
<?php
class Cart
{
    public function __construct(private array $prices) {}

    public function price(string $sku): int
    {
        return $this->prices[$sku] ?? throw new OutOfBoundsException("no price for $sku");
    }

    public function total(array $skus, int $discount = 0): int
    {
        return array_sum(array_map(fn ($sku) => $this->price($sku), $skus)) * (100 + $discount) / 100;
    }

    public function toArray(): array
    {
        return ['currency' => 'EUR', 'prices' => $this->prices];
    }
}
"""

_CART_PHP_TEST: Final = """\
<?php
use PHPUnit\\Framework\\TestCase;

require_once __DIR__ . '/../Cart.php';

final class CartTest extends TestCase
{
    private function cart(): Cart
    {
        return new Cart(['pen' => 150]);
    }

    public function testPen(): void
    {
        $this->assertSame(150, $this->cart()->total(['pen']));
    }

    public function testDiscount(): void
    {
        $this->assertSame(135, $this->cart()->total(['pen'], 10));
    }

    public function testToArray(): void
    {
        $this->assertEquals(['currency' => 'EUR', 'prices' => ['pen' => 151]], $this->cart()->toArray());
    }

    /** @dataProvider unknown */
    public function testUnknown(string $sku): void
    {
        $this->assertGreaterThan(0, $this->cart()->total([$sku]));
    }

    public static function unknown(): array
    {
        return ['ink' => ['ink'], 'cap' => ['ink']];
    }

    public function testContains(): void
    {
        $this->assertArrayHasKey('taxes', $this->cart()->toArray(), 'the tax office asks');
    }
}
"""

_PHPUNIT: Final = [
    Case(
        name="phpunit",
        format="phpunit",
        command="phpunit --colors=never tests",
        files={"Cart.php": _CART_PHP, "tests/CartTest.php": _CART_PHP_TEST},
        needs=("phpunit",),
    ),
    Case(
        name="phpunit_one",
        format="phpunit",
        command="phpunit --colors=never --filter testDiscount tests",
        files={"Cart.php": _CART_PHP, "tests/CartTest.php": _CART_PHP_TEST},
        needs=("phpunit",),
    ),
    Case(
        name="phpunit_testdox",
        format="phpunit",
        command="phpunit --colors=never --testdox tests",
        files={"Cart.php": _CART_PHP, "tests/CartTest.php": _CART_PHP_TEST},
        needs=("phpunit",),
    ),
    Case(
        name="phpunit_no_class",
        format="phpunit",
        command="phpunit --colors=never tests",
        files={"Cart.php": "<?php\n", "tests/CartTest.php": _CART_PHP_TEST},
        needs=("phpunit",),
    ),
]

CASES: Final = [*_JVM, *_JUNIT, *_MAVEN, *_DOTNET, *_RUBY, *_RSPEC, *_PHP, *_PHPUNIT]
