package heliograph.recorder;

import heliograph.recall.State;
import heliograph.recorder.Names.Method;
import heliograph.recorder.Names.Site;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * The rows of a recording: who called whom, according to what stood at the site below each method.
 *
 * <p>If that site names the method that began, it is a call. If not, hidden code stands between them (a class
 * made for a lambda, a proxy, an accessor, a method handle), which a site of such a kind tells, or the JVM did
 * it by itself.
 */
final class Rows {
    private static final String JVM = "<jvm>";
    private static final String START = "java.lang.Thread.start0()V";

    /** What instrumenting a class calls before {@link Recorder} has the word. */
    private static final Set<String> INSTRUMENTATION = new HashSet<>(Arrays.asList(
            "java/lang/ClassLoader.getUnnamedModule", "jdk/internal/loader/BootLoader.getUnnamedModule",
            "java/lang/Class.getModule", "jdk/internal/module/Modules.transformedByAgent"));
    private static final String TRANSFORMED = "jdk.internal.module.Modules.transformedByAgent";

    private static final String LOADING = "java.lang.ClassLoader.loadClass";

    /** What a proxy calls. */
    private static final String HANDLER =
            "invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;";

    /** Natives, and methods of generated classes, that call what reflection names. */
    private static final Set<String> DISPATCHERS = new HashSet<>(Arrays.asList(
            "jdk/internal/reflect/NativeMethodAccessorImpl.invoke0",
            "jdk/internal/reflect/NativeConstructorAccessorImpl.newInstance0",
            "jdk/internal/reflect/MethodAccessorImpl.invoke",
            "jdk/internal/reflect/ConstructorAccessorImpl.newInstance"));

    /** What HotSpot calls by itself, whatever instruction the frame below executes. */
    private static final Set<String> UPCALLS = new HashSet<>(Arrays.asList(
            "loadClass(Ljava/lang/String;)Ljava/lang/Class;",
            "checkPackageAccess(Ljava/lang/Class;Ljava/security/ProtectionDomain;)V",
            "dispatchUncaughtException(Ljava/lang/Throwable;)V",
            "findNative(Ljava/lang/ClassLoader;Ljava/lang/String;)J"));
    private static final Set<String> UPCALLED = new HashSet<>(Arrays.asList(
            "java/lang/invoke/MethodHandleNatives", "java/lang/Shutdown"));

    /** Throwables that the JVM makes for an instruction. */
    private static final Set<String> THROWN = new HashSet<>(Arrays.asList(
            "java/lang/NullPointerException", "java/lang/ArithmeticException", "java/lang/ClassCastException",
            "java/lang/ArrayIndexOutOfBoundsException", "java/lang/NegativeArraySizeException",
            "java/lang/ArrayStoreException", "java/lang/IllegalMonitorStateException",
            "java/lang/reflect/InvocationTargetException", "java/lang/NoClassDefFoundError",
            "java/lang/ClassNotFoundException", "java/lang/NoSuchMethodError",
            "java/lang/NoSuchFieldError", "java/lang/AbstractMethodError", "java/lang/IllegalAccessError",
            "java/lang/InstantiationError", "java/lang/InstantiationException", "java/lang/VerifyError",
            "java/lang/IncompatibleClassChangeError", "java/lang/UnsatisfiedLinkError", "java/lang/LinkageError",
            "java/lang/ExceptionInInitializerError", "java/lang/StackOverflowError", "java/lang/OutOfMemoryError"));

    private final Names names;
    private final TreeSet<String> rows = new TreeSet<>();

    Rows(Names names) {
        this.names = names;
    }

    void write(PrintStream out) {
        boolean[] explained = new boolean[names.siteCount()];
        for (long pair : State.recorded()) {
            int site = (int) (pair >> 32);
            Method callee = names.method((int) pair);
            if (site > 0) add(names.site(site), callee, explained, site);
            else if (site == State.NEW_THREAD && isRun(callee)) call(START, callee);
            else if (site == State.NEW_THREAD || site == State.MAIN_THREAD) jvm(callee);
            else if (site != State.OLD_THREAD && site != 0) addBegun(-site, callee);
        }
        for (int site = 1; site < explained.length; site++) {
            if (State.seen[site] != 0 && !explained[site]) addBodiless(names.site(site));
        }
        for (String each : State.reflective) addReflective(each.split("\t"));
        out.print("# heliograph recording\n# java " + System.getProperty("java.version") + "\n");
        for (String each : rows) out.print(each + "\n");
    }

    private void add(Site site, Method callee, boolean[] explained, int number) {
        String caller = names.method(site.caller).toString();
        if (callee.name.equals("<clinit>")) {
            rows.add("init\t" + caller + "\t" + callee);
        } else if (names.answers(site, callee)) {
            explained[number] = true;
            call(caller, callee);
        } else if (isHiddenBetween(site, callee)) {
            call(caller, callee);
        } else {
            jvm(callee);
        }
    }

    /** Adds what began while {@code caller} stood at none of its sites yet. */
    private void addBegun(int caller, Method callee) {
        if (callee.name.equals("<clinit>")) rows.add("init\t" + names.method(caller) + "\t" + callee);
        else jvm(callee);
    }

    private static boolean isHiddenBetween(Site site, Method callee) {
        if (isUpcall(callee)) return false;
        switch (site.kind) {
            case INTERFACE: return true;
            case DYNAMIC: case HANDLE: return !isOfHandles(callee);
            default:
                return (callee.name + callee.descriptor).equals(HANDLER)
                        || DISPATCHERS.contains(site.named.owner + "." + site.named.name);
        }
    }

    private static boolean isUpcall(Method callee) {
        return UPCALLED.contains(callee.owner) || UPCALLS.contains(callee.name + callee.descriptor)
                || callee.owner.equals("java/lang/ref/Finalizer") && callee.name.equals("register")
                || callee.owner.equals("java/lang/Thread") && callee.name.equals("exit")
                || callee.name.equals("<init>") && THROWN.contains(callee.owner);
    }

    /** Whether a method does part of the work of a method handle or a string concatenation. */
    private static boolean isOfHandles(Method callee) {
        return callee.owner.startsWith("java/lang/invoke/") || callee.owner.startsWith("java/lang/runtime/")
                || callee.owner.equals("java/lang/StringConcatHelper");
    }

    private static boolean isRun(Method callee) {
        return callee.name.equals("run") && callee.descriptor.equals("()V");
    }

    /** Adds the call of a method that can't tell: a native one, or one that HotSpot's interpreter replaces. */
    private void addBodiless(Site site) {
        Method callee = names.bound(site);
        if (callee == null) return;
        boolean silent = callee.owner.equals("java/lang/Object") && callee.name.equals("<init>")
                || callee.owner.equals("java/lang/Math") || callee.owner.equals("java/util/zip/CRC32");
        if (silent || names.isNative(callee)) call(names.method(site.caller).toString(), callee);
    }

    private void addReflective(String[] parts) {
        Site site = names.site(Integer.parseInt(parts[0]));
        String api = Api.name(Integer.parseInt(parts[1]));
        boolean hidden = parts[2].contains("$$Lambda") || parts[2].contains("/0x");
        boolean loads = !api.equals(LOADING) || names.supertypes(site.named.owner).contains("java/lang/ClassLoader");
        if (hidden || !loads || !api.endsWith("." + site.named.name)) return;
        String target = api.equals("java.lang.Class.newInstance") ? parts[2] + ".<init>()V" : parts[2];
        rows.add("reflective\t" + names.method(site.caller) + ":" + site.line + "\t" + api + "\t" + target);
    }

    private void call(String caller, Method callee) {
        if (!caller.startsWith(TRANSFORMED)) rows.add("call\t" + caller + "\t" + callee);
    }

    private void jvm(Method callee) {
        if (!INSTRUMENTATION.contains(callee.owner + "." + callee.name)) rows.add("jvm\t" + JVM + "\t" + callee);
    }
}
