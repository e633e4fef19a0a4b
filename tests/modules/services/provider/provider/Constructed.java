package provider;

import greeting.Goer;
import support.Probe;

public class Constructed implements Goer {
    public Constructed() { Probe.reached(); } // $ reaches=provider.Constructed.<init>()

    Constructed(String unused) { Probe.reached(); }

    @Override public void go() { Probe.reached(); }
}
