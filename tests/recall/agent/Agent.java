package heliograph.recall;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Starts the recording. The argument is {@code FILE,PATH}: where to write, and the class path of
 * {@link Recorder}, which gets a loader of its own so that the program's libraries aren't mistaken for it.
 */
public final class Agent {
    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        String[] parts = argument.split(",", 2);
        String[] paths = parts[1].split(File.pathSeparator);
        URL[] urls = new URL[paths.length];
        for (int each = 0; each < paths.length; each++) urls[each] = new File(paths[each]).toURI().toURL();
        ClassLoader loader = new URLClassLoader(urls, null);
        Constructor<?> made = loader.loadClass("heliograph.recorder.Recorder").getConstructors()[0];
        made.newInstance(instrumentation, parts[0]);
    }
}
