package closed.shown;

import support.Probe;

public class Shown {
    public Shown() { Probe.reached(); }

    private Shown(int number) { Probe.reached(); }
}
