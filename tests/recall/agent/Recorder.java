package heliograph.recorder;

import heliograph.recall.State;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassReader;

/** Instruments each class as it is loaded, those that are there already at once, and records from then on. */
public final class Recorder implements ClassFileTransformer {
    private final Names names = new Names();
    private final Instrumenter instrumenter = new Instrumenter(names);
    /** What couldn't be instrumented: methods that would get too large, and classes. */
    private final List<String> left = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> done = Collections.synchronizedSet(new HashSet<>());
    private final ClassLoader own = Recorder.class.getClassLoader();

    public Recorder(Instrumentation instrumentation, String file) throws Exception {
        State.writer = () -> write(instrumentation, file);
        instrumentation.addTransformer(this, true);
        // The first round loads classes of the JDK that the recorder itself needs, so there is a second one.
        for (int round = 0; round < 3; round++) {
            List<Class<?>> loaded = new ArrayList<>();
            for (Class<?> each : instrumentation.getAllLoadedClasses()) {
                if (isMissing(instrumentation, each)) loaded.add(each);
            }
            if (!loaded.isEmpty()) instrumentation.retransformClasses(loaded.toArray(new Class<?>[0]));
        }
        Thread[] running = new Thread[256];
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) group = group.getParent();
        group.enumerate(running);
        State.start(running);
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] content) {
        State.suppress();
        try {
            if (name == null || loader == own && own != null || isSkipped(name)) return null;
            ClassReader reader = new ClassReader(content);
            if ("java/lang/reflect/Proxy".equals(reader.getSuperName())) return null;
            byte[] instrumented = instrumenter.instrument(content, left);
            done.add(key(loader, name));
            return instrumented;
        } catch (Throwable problem) {
            left.add(String.valueOf(name).replace('/', '.') + " (" + problem + ")");
            return null;
        } finally {
            State.resume();
        }
    }

    private boolean isMissing(Instrumentation instrumentation, Class<?> type) {
        String name = type.getName().replace('.', '/');
        return instrumentation.isModifiableClass(type) && !type.isArray() && type.getClassLoader() != own
                && !isSkipped(name) && type.getSuperclass() != java.lang.reflect.Proxy.class
                && !done.contains(key(type.getClassLoader(), name));
    }

    /** Whether a class is ours, or one of those that the JDK makes for reflection and method handles. */
    private static boolean isSkipped(String name) {
        return name.startsWith("heliograph/recall/")
                || name.startsWith("sun/instrument/") || name.startsWith("java/lang/instrument/")
                || name.startsWith("jdk/internal/reflect/Generated")
                || name.startsWith("java/lang/invoke/") && name.endsWith("$Holder")
                || name.equals("java/lang/invoke/VarHandleGuards");
    }

    private static String key(ClassLoader loader, String name) {
        return name + " " + System.identityHashCode(loader);
    }

    private void write(Instrumentation instrumentation, String file) {
        for (Class<?> each : instrumentation.getAllLoadedClasses()) {
            if (isMissing(instrumentation, each)) left.add(each.getName());
        }
        try (PrintStream out = new PrintStream(file, "UTF-8")) {
            Rows rows = new Rows(names);
            rows.write(out);
            Collections.sort(left);
            for (String each : left) out.print("# not instrumented: " + each + "\n");
        } catch (IOException problem) {
            System.err.println("The recording can't be written: " + problem);
        }
    }
}
