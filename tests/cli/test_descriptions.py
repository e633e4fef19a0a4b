"""What is known of descriptions of beans; proxies that the JDK makes of what it is given; interfaces of management."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Heliograph

PROGRAM = """\
package demo;
import java.beans.*;
import java.lang.management.ManagementFactory;
import javax.management.*;
public class Main {
    public static class Bean { public String getName() { return ""; } }
    public interface Counter { int getCount(); }
    public interface Task { void go(); }
    public static class Worker { public void go() { } }
    static Object read(PropertyDescriptor property, Object bean) throws Exception {
        return property.getReadMethod().invoke(bean);
    }
    static Object called(MethodDescriptor described, Object bean) throws Exception {
        return described.getMethod().invoke(bean);
    }
    public static void main(String[] arguments) throws Exception {
        read(new PropertyDescriptor("name", Bean.class), new Bean());
        called(new MethodDescriptor(Class.forName(arguments[0]).getMethod(arguments[1])), new Bean());
        Counter counter = JMX.newMBeanProxy(
            ManagementFactory.getPlatformMBeanServer(), new ObjectName("a:type=B"), Counter.class);
        counter.getCount();
        EventHandler.create(Task.class, new Worker(), "go").go();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        Idle idle = new Idle();
        server.registerMBean(new Used(), new ObjectName("a:type=U"));
        server.registerMBean(new StandardMBean(new Told(), Counter.class, true), new ObjectName("a:type=T"));
    }
    @MXBean public interface Pool { long getUsed(); }
    public static class Used implements Pool {
        public long getUsed() { return 1; }
        public long own() { return 1; }
    }
    public static class Idle implements Pool { public long getUsed() { return 2; } }
    public static class Told implements Counter { public int getCount() { return 3; } }
}
"""


@pytest.fixture(scope="module")
def run(run_of: Callable[..., Path]) -> Path:
    return run_of(PROGRAM)


def test_what_descriptions_return_is_known_or_said_to_be_unknown(run: Path, heliograph: Heliograph) -> None:
    found = {
        (each["line"], each["api"].rpartition(".")[2]): (each["status"], each["targets"])
        for each in json.loads(heliograph("sites", "--run", run, "--format", "json").output)
        if each["line"] in (11, 14)
    }
    getters = ["demo.Main$Bean.getName()Ljava/lang/String;", "java.lang.Object.getClass()Ljava/lang/Class;"]
    assert found[11, "getReadMethod"] == ("resolved", getters)
    # One of the methods that the program gives to descriptions is unknown.
    assert found[11, "invoke"] == ("partial", getters)
    status, methods = found[14, "invoke"]
    assert status == "partial"
    assert {*getters, "java.lang.Object.hashCode()I"} < set(methods)


@pytest.mark.parametrize(
    ("called", "handler"),
    [
        ("Counter$$Proxy.getCount", "javax.management.MBeanServerInvocationHandler.invoke"),
        ("Task$$Proxy.go", "java.beans.EventHandler.invoke"),
    ],
)
def test_proxies_of_interfaces_that_the_jdk_is_given_call_its_handler(
    run: Path, heliograph: Heliograph, called: str, handler: str
) -> None:
    done = heliograph("callgraph", "--run", run, "--from", f"demo.Main${called}", "--format", "json")
    assert handler in {step["callee"].partition("(")[0] for path in json.loads(done.output) for step in path}


def test_interfaces_with_an_annotation_or_told_of_are_those_of_management(
    run: Path, heliograph: Heliograph
) -> None:
    done = heliograph(
        "callgraph", "--run", run, "--from", "demo.Main.main", "--format", "json", "--limit", "0"
    )
    called = {step["callee"].partition("(")[0] for path in json.loads(done.output) for step in path}
    kept = {f"demo.Main${each}" for each in ("Used.getUsed", "Used.own", "Idle.getUsed", "Told.getCount")}
    assert called & kept == {"demo.Main$Used.getUsed", "demo.Main$Told.getCount"}
