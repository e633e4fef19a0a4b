package provider;

import greeting.Goer;
import support.Probe;

public class Made implements Goer {
    @Override public void go() { Probe.reached(); }

    public static Made provider() { Probe.reached(); return null; }
}
