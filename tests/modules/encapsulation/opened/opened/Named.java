package opened;

import support.Probe;

public class Named {
    public Named() { Probe.reached(); }
}
