package provider;

import greeting.Goer;
import support.Probe;

/** Stands in META-INF/services, which a module's providers don't come from. */
public class Unlisted implements Goer {
    public Unlisted() { Probe.reached(); }

    @Override public void go() { Probe.reached(); }
}
