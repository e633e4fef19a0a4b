package provider;

import support.Probe;

/** Is no Goer itself: its method provider makes one. */
public class Factory {
    public Factory() { Probe.reached(); }

    public static Made provider() { // $ reaches=provider.Factory.provider()
        Probe.reached();
        return new Made();
    }

    public static Made provider(String unused) { Probe.reached(); return null; }
}
