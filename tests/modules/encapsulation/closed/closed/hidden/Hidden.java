package closed.hidden;

import support.Probe;

public class Hidden {
    public Hidden() { Probe.reached(); }
}
