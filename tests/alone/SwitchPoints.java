import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.SwitchPoint;
import support.Probe;

/**
 * A switch calls its target until it is invalidated, then its fallback.
 * Covers: SwitchPoint.guardWithTest, MethodHandles.tableSwitch.
 */
class SwitchPoints {
    static void first() { Probe.reached(); }
    static void second() { Probe.reached(); }
    static void third(int which) { Probe.reached(); }
    static void other(int which) { Probe.reached(); }
    static void idle() { Probe.reached(); }

    public static void main(String[] args) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodType type = MethodType.methodType(void.class);
        MethodHandle first = lookup.findStatic(SwitchPoints.class, "first", type);
        MethodHandle second = lookup.findStatic(SwitchPoints.class, "second", type);
        SwitchPoint point = new SwitchPoint();
        MethodHandle switching = point.guardWithTest(first, second);
        switching.invoke(); // $ points-to: calls=SwitchPoints.first SPURIOUS: calls=SwitchPoints.second
        SwitchPoint.invalidateAll(new SwitchPoint[] {point});
        switching.invoke(); // $ points-to: calls=SwitchPoints.second SPURIOUS: calls=SwitchPoints.first
        MethodType numbered = MethodType.methodType(void.class, int.class);
        MethodHandle third = lookup.findStatic(SwitchPoints.class, "third", numbered);
        MethodHandle other = lookup.findStatic(SwitchPoints.class, "other", numbered);
        MethodHandles.tableSwitch(other, third).invoke(0); // $ points-to: calls=SwitchPoints.third SPURIOUS: calls=SwitchPoints.other
        lookup.findStatic(SwitchPoints.class, "idle", type);
    }
}
