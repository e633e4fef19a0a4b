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
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;

public class Main {
    static class Collected implements NotificationListener {
        volatile boolean told;
        @Override public void handleNotification(Notification notification, Object handback) { told = true; }
    }

    static class Full implements NotificationListener {
        volatile boolean told;
        @Override public void handleNotification(Notification notification, Object handback) { told = true; }
    }

    static void listen() throws Exception {
        Collected collected = new Collected();
        Full full = new Full();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) bean).addNotificationListener(collected, null, null);
        }
        ((NotificationEmitter) ManagementFactory.getMemoryMXBean()).addNotificationListener(full, null, null);
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.isCollectionUsageThresholdSupported()) {
                pool.setCollectionUsageThreshold(1);
            }
        }
        System.gc();
        while (!collected.told || !full.told) {
            Thread.sleep(10);
        }
        told(collected, "handleNotification", Notification.class, Object.class);
        told(full, "handleNotification", Notification.class, Object.class);
    }

    static void told(Object receiver, String name, Class<?>... types) throws Exception {
        System.out.println(receiver.getClass().getMethod(name, types).getDeclaringClass().getName() + "." + name);
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
        listen();
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
    command = [str(JAVA), "-cp", str(tmp_path / "classes"), "demo.Main"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    seen = set(ran.stdout.split())
    assert len(seen) > 5
    done = heliograph("analyze", tmp_path / "classes", "--main", "demo.Main", "--out", tmp_path / "run")
    assert done.code == 0, done.errors
    run = Run(tmp_path / "run")
    names, result = run.names, run.result
    reached = {
        names.method(each).qualified for each in result.reached[names.is_application(result.reached)].tolist()
    }
    called = {
        names.method(callee).qualified
        for site, callee in zip(result.call_site.tolist(), result.call_callee.tolist(), strict=True)
        if result.sites.method[site] >= 0
        and names.method(int(result.sites.method[site])).qualified == "demo.Main.main"
    }
    assert seen - called - reached == set()
