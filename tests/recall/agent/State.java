package heliograph.recall;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;

/**
 * The shadow stack of a thread, and what all threads called.
 *
 * <p>Instrumented code calls this class from everywhere, so what runs at each call uses arrays and native
 * methods only: {@code Thread.currentThread} and {@code System.identityHashCode}. A frame of the stack is the
 * call site at which the method stands. A method tells its site before each instruction that may run code
 * elsewhere, which also trims what frames left behind that ended with an exception; so methods need no handler
 * of their own, which constructors couldn't have.
 */
public final class State {
    /** In place of a site: the first frame of a thread that began after the recording did, or before. */
    public static final int NEW_THREAD = Integer.MIN_VALUE;
    public static final int MAIN_THREAD = NEW_THREAD + 1;
    public static final int OLD_THREAD = NEW_THREAD + 2;

    public static final int MOST_SITES = 1 << 23;
    private static final int THREADS = 1 << 16;

    /** Stands for the state of a thread that isn't recorded. */
    private static final State NONE = new State(null, OLD_THREAD);
    private static final State[] states = new State[THREADS];

    /** The last callee of each site, so that most calls need no look into the table of pairs. */
    private static final int[] lastCallee = new int[MOST_SITES];
    private static final Object[] lastTarget = new Object[MOST_SITES];
    /** Whether a site was come to. */
    public static final byte[] seen = new byte[MOST_SITES];

    private static final Object lock = new Object();
    /** Pairs of site (or negative method) and callee, an open-addressing table. */
    private static volatile long[] pairs = new long[1 << 16];
    private static int pairCount;

    /** Lines of {@code site, api, target} that name what reflective calls acted on. */
    public static final HashSet<String> reflective = new HashSet<>();

    private static volatile boolean on;
    /** Writes the recording; whoever knows the names of sites and methods supplies it. */
    public static Runnable writer;

    private final Thread thread;
    private final int root;
    /** The index of the next frame. */
    public int depth;
    private int[] sites = new int[256];
    private int suppressed;

    private State(Thread thread, int root) {
        this.thread = thread;
        this.root = root;
    }

    /** Enters a method and returns the state of the thread, whose depth is then that of the frame plus 1. */
    public static State enter(int method) {
        if (!on) return NONE;
        State state = current();
        if (state.suppressed != 0) return NONE;
        int depth = state.depth;
        int[] sites = state.sites;
        if (depth == sites.length) sites = state.grow();
        int site = depth == 0 ? state.root : sites[depth - 1];
        if (site <= 0 || lastCallee[site] != method) record(site, method);
        sites[depth] = -method;
        state.depth = depth + 1;
        return state;
    }

    /** The frame below {@code depth} is about to execute the instruction {@code site}. */
    public void at(int depth, int site) {
        if (depth == 0) return;
        sites[depth - 1] = site;
        this.depth = depth;
        seen[site] = 1;
    }

    /** The frame below {@code depth} returns. */
    public void leave(int depth) {
        if (depth != 0) this.depth = depth - 1;
    }

    /** A method of the reflection API was entered on the object {@code target}. */
    public void entered(int depth, int api, Object target) {
        if (depth < 2) return;
        int site = sites[depth - 2];
        if (site <= 0 || lastTarget[site] == target) return;
        lastTarget[site] = target;
        note(site, api, target);
    }

    /** A method of the reflection API returned {@code target} at {@code site}. */
    public void returned(Object target, int site, int api) {
        if (this == NONE || target == null || lastTarget[site] == target) return;
        lastTarget[site] = target;
        note(site, api, target);
    }

    private void note(int site, int api, Object target) {
        suppressed++;
        try {
            String line = site + "\t" + api + "\t" + named(target);
            synchronized (reflective) {
                reflective.add(line);
            }
        } finally {
            suppressed--;
        }
    }

    private static State current() {
        Thread thread = Thread.currentThread();
        State state = states[System.identityHashCode(thread) & (THREADS - 1)];
        return state != null && state.thread == thread ? state : find(thread, NEW_THREAD);
    }

    private static State find(Thread thread, int root) {
        synchronized (lock) {
            int place = System.identityHashCode(thread) & (THREADS - 1);
            for (int tried = 0; tried < THREADS; tried++, place = (place + 1) & (THREADS - 1)) {
                State state = states[place];
                if (state == null) return states[place] = new State(thread, root);
                if (state.thread == thread) return state;
            }
        }
        return NONE;
    }

    private int[] grow() {
        int[] larger = new int[sites.length * 2];
        System.arraycopy(sites, 0, larger, 0, sites.length);
        return sites = larger;
    }

    private static void record(int site, int method) {
        long pair = (long) site << 32 | method;
        long[] table = pairs;
        int place = place(pair, table);
        if (table[place] != pair) insert(pair);
        if (site > 0) lastCallee[site] = method;
    }

    private static void insert(long pair) {
        synchronized (lock) {
            long[] table = pairs;
            if (pairCount * 2 > table.length) {
                long[] larger = new long[table.length * 2];
                for (long each : table) if (each != 0) larger[place(each, larger)] = each;
                pairs = table = larger;
            }
            int place = place(pair, table);
            if (table[place] == 0) {
                table[place] = pair;
                pairCount++;
            }
        }
    }

    private static int place(long pair, long[] table) {
        int mask = table.length - 1;
        long hash = pair * 0x9E3779B97F4A7C15L;
        int place = (int) (hash >>> 32) & mask;
        while (table[place] != 0 && table[place] != pair) place = (place + 1) & mask;
        return place;
    }

    /** Begins to record; the threads that there are already have frames that nobody saw. */
    public static void start(Thread[] running) {
        for (Thread each : running) {
            if (each != null) find(each, each == Thread.currentThread() ? MAIN_THREAD : OLD_THREAD);
        }
        on = true;
    }

    /** Ends the recording and writes it, once. */
    public static void finish() {
        synchronized (lock) {
            if (!on) return;
            on = false;
        }
        writer.run();
    }

    /** What this thread does from now on isn't the program's. */
    public static void suppress() {
        current().suppressed++;
    }

    public static void resume() {
        current().suppressed--;
    }

    /** Returns the pairs that were recorded. */
    public static long[] recorded() {
        long[] found = new long[pairCount];
        int next = 0;
        for (long each : pairs) if (each != 0) found[next++] = each;
        return found;
    }

    private static String named(Object target) {
        if (target instanceof Class) return ((Class<?>) target).getTypeName();
        if (target instanceof Field) {
            Field field = (Field) target;
            return field.getDeclaringClass().getTypeName() + "." + field.getName();
        }
        if (target instanceof Constructor) {
            Constructor<?> made = (Constructor<?>) target;
            String owner = made.getDeclaringClass().getTypeName();
            return owner + ".<init>" + descriptor(made.getParameterTypes(), void.class);
        }
        Method method = (Method) target;
        return method.getDeclaringClass().getTypeName() + "." + method.getName()
                + descriptor(method.getParameterTypes(), method.getReturnType());
    }

    private static String descriptor(Class<?>[] parameters, Class<?> result) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> each : parameters) text.append(each.descriptorString());
        return text.append(')').append(result.descriptorString()).toString();
    }
}
