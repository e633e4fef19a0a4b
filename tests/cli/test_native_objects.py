"""Objects that native code of the JDK makes: what runs on them is found as it is on a real JVM."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.run import Run
from tests.cli.conftest import Heliograph

JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
SOURCE = """package demo;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryManagerMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.Collections;

public class Main {
    static void told(Object receiver, String name) throws Exception {
        System.out.println(receiver.getClass().getMethod(name).getDeclaringClass().getName() + "." + name);
    }

    public static void main(String[] arguments) throws Exception {
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            told(bean, "getCollectionCount");
            bean.getCollectionCount();
        }
        for (MemoryManagerMXBean bean : ManagementFactory.getMemoryManagerMXBeans()) {
            told(bean, "getName");
            bean.getName();
        }
        for (MemoryPoolMXBean bean : ManagementFactory.getMemoryPoolMXBeans()) {
            told(bean, "getUsage");
            bean.getUsage();
        }
        Object option = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption("UseSerialGC");
        told(option, "toString");
        option.toString();
        InetAddress local = InetAddress.getByName("127.0.0.1");
        try (ServerSocket server = new ServerSocket(0, 1, local);
                Socket client = new Socket(local, server.getLocalPort());
                Socket accepted = server.accept()) {
            InetAddress address = accepted.getInetAddress();
            told(address, "isLoopbackAddress");
            address.isLoopbackAddress();
            SocketAddress remote = accepted.getRemoteSocketAddress();
            told(remote, "hashCode");
            remote.hashCode();
        }
        for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress address : Collections.list(each.getInetAddresses())) {
                told(address, "isAnyLocalAddress");
                address.isAnyLocalAddress();
            }
            for (InterfaceAddress bound : each.getInterfaceAddresses()) {
                told(bound.getAddress(), "isMulticastAddress");
                bound.getAddress().isMulticastAddress();
            }
        }
    }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(JAVA is None or JAVAC is None, reason="needs a JDK")
def test_what_native_code_makes_receives_calls_as_on_a_jvm(tmp_path: Path, heliograph: Heliograph) -> None:
    (tmp_path / "Main.java").write_text(SOURCE)
    subprocess.run([str(JAVAC), "-d", tmp_path / "classes", tmp_path / "Main.java"], check=True)
    ran = subprocess.run(
        [str(JAVA), "-cp", tmp_path / "classes", "demo.Main"], check=True, capture_output=True, text=True
    )
    seen = set(ran.stdout.split())
    assert len(seen) > 5
    done = heliograph("analyze", tmp_path / "classes", "--main", "demo.Main", "--out", tmp_path / "run")
    assert done.code == 0, done.errors
    run = Run(tmp_path / "run")
    names, result = run.names, run.result
    called = {
        names.method(callee).qualified
        for site, callee in zip(result.call_site.tolist(), result.call_callee.tolist(), strict=True)
        if result.sites.method[site] >= 0
        and names.method(int(result.sites.method[site])).qualified == "demo.Main.main"
    }
    assert seen - called == set()
