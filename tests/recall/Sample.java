import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Calls of all the kinds that a recording has to tell apart. */
public class Sample {
    static int count;

    public static void main(String[] arguments) throws Throwable {
        new Derived(argument());
        Shape shape = new Square();
        shape.area();
        shape.describe();
        unwind();
        functions();
        reflect();
        proxy();
        Thread thread = new Thread(new Task());
        thread.start();
        thread.join();
        thread.getClass();
        Lazy.touched++;
        if (Unused.CONSTANT > 3) System.exit(1);
        swallow();
    }

    static int argument() { return 1; }

    static void unwind() {
        for (int turn = 0; turn < 3; turn++) {
            try {
                deep(turn);
            } catch (IllegalStateException expected) {
                after();
            }
        }
    }

    static void deep(int turn) { deeper(turn); }
    static void deeper(int turn) { if (turn < 2) throw new IllegalStateException(); }
    static void after() {}

    static void functions() {
        List<String> words = new ArrayList<>(Arrays.asList("b", "a"));
        words.forEach(word -> see(word));
        words.removeIf(Sample::isB);
        Runnable twice = () -> { Runnable inner = () -> after(); inner.run(); };
        twice.run();
        String text = "" + new Named() + words.size();
    }

    static void see(String word) {}
    static boolean isB(String word) { return word.equals("b"); }

    static void reflect() throws Exception {
        Class<?> type = Class.forName("Plugin");
        Object plugin = type.getDeclaredConstructor().newInstance();
        Method method = type.getMethod("go", int.class);
        for (int turn = 0; turn < 20; turn++) method.invoke(plugin, turn);
        type.getField("seen").get(plugin);
        Sample.class.getClassLoader().loadClass("Loaded");
    }

    static void proxy() {
        Class<?>[] interfaces = {Shape.class};
        Shape shape = (Shape) Proxy.newProxyInstance(Sample.class.getClassLoader(), interfaces, new Handler());
        shape.area();
        shape.toString();
    }

    static void swallow() {
        try {
            Object none = arguments();
            none.hashCode();
        } catch (NullPointerException expected) {
            after();
        }
    }

    static Object arguments() { return null; }
}

interface Shape {
    int area();
    default void describe() { area(); }
}

class Square implements Shape {
    public int area() { return 4; }
}

class Base {
    Base(int size) { size(); }
    void size() {}
}

class Derived extends Base {
    Derived(int size) { super(twice(size)); }
    static int twice(int size) { return 2 * size; }
    @Override void size() {}
}

class Named {
    @Override public String toString() { return "named"; }
}

class Plugin {
    public int seen;
    public Plugin() {}
    public void go(int turn) { seen += turn; }
}

class Loaded {
    static { Sample.after(); }
}

class Lazy {
    static int touched = first();
    static int first() { return 1; }
}

class Unused {
    static final int CONSTANT = 3;
    static { Sample.after(); }
}

class Task implements Runnable {
    public void run() { Sample.after(); }
}

class Handler implements InvocationHandler {
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        return method.getReturnType() == int.class ? (Object) 3 : "handled";
    }
}
