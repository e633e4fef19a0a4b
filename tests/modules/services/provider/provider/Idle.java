package provider;

import support.Probe;

/** Provides a service that nobody loads. */
public class Idle implements Unused {
    public Idle() { Probe.reached(); }
}
