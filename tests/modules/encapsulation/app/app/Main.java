package app;

import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import support.Probe;

/**
 * Reflection reaches public members of exported packages, and all members of open ones; that of other packages fails
 * before anything of them is called.
 * Covers: exports, opens, IllegalAccessException, InaccessibleObjectException, Class.forName of a module.
 */
public final class Main {
    private Main() {}

    static void refused() { Probe.reached(); }

    static void unreadable() { Probe.reached(); }

    public static void main(String[] args) throws Exception {
        Class<?> shown = Class.forName("closed.shown.Shown");
        shown.getConstructor().newInstance(); // $ points-to: calls=closed.shown.Shown.<init>()
        Constructor<?> open = Class.forName("opened.Open").getDeclaredConstructor();
        open.setAccessible(true);
        open.newInstance(); // $ points-to: calls=opened.Open.<init>()
        Class<?> named = Class.forName(open.getDeclaringClass().getModule(), "opened.Named");
        named.getConstructor().newInstance(); // $ points-to: calls=opened.Named.<init>
        try {
            Class.forName("closed.hidden.Hidden").getConstructor().newInstance(); // $ points-to: SPURIOUS: calls=closed.hidden.Hidden.<init>
        } catch (IllegalAccessException thrown) {
            refused(); // $ calls=app.Main.refused
        }
        try {
            shown.getDeclaredConstructor(int.class).setAccessible(true);
            shown.getDeclaredConstructor(int.class).newInstance(1); // $ points-to: SPURIOUS: calls=closed.shown.Shown.<init>(int)
        } catch (InaccessibleObjectException thrown) {
            unreadable(); // $ calls=app.Main.unreadable
        }
    }
}
