package opened;

import support.Probe;

class Open {
    private Open() { Probe.reached(); }

    private Open(int unused) { Probe.reached(); }
}
