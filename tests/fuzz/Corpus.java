import java.io.Closeable;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** Classes that the class file fuzzer changes: small ones, which together use most of the format. */
class Empty {
}

class Constants {
    static final String NAME = "a.b.C";
    static final int COUNT = 7;
    static final long LONG = 1L << 40;
    static final double RATIO = 0.5;
    final String text = "\0\uD801\uDC00\uD801";
    static Object kept = "kept";
}

interface Greeting {
    String greet(String name);

    default String twice(String name) {
        return greet(greet(name));
    }

    static Greeting plain() {
        return name -> name;
    }
}

abstract class Base<T extends Comparable<T>> implements Supplier<T>, Cloneable {
    protected T value;

    abstract T next() throws IOException;

    native int size();

    public T get() {
        return value;
    }
}

final class Derived extends Base<String> {
    @Override
    String next() {
        value = String.valueOf(super.get());
        return value;
    }
}

class Dense {
    static String of(int number) {
        switch (number) {
            case 1: return "one";
            case 2: return "two";
            case 4: return "four";
            default: return null;
        }
    }
}

class Sparse {
    static int of(int number) {
        switch (number) {
            case -1_000_000: return 1;
            case 0: return 2;
            case 1_000_000: return 3;
            default: return 0;
        }
    }
}

class Texts {
    static int of(String text) {
        switch (text) {
            case "Aa": return 1;
            case "BB": return 2;
            default: return 0;
        }
    }
}

class Tried {
    static Object of(Closeable resource) {
        try (resource) {
            return resource.toString();
        } catch (IOException | IllegalStateException problem) {
            return problem;
        } finally {
            Constants.kept = null;
        }
    }
}

class Loops {
    static long of(Object[] all) {
        long sum = 0;
        for (Object each : all) {
            for (int at = 0; at < 3; at++) {
                sum += each == null ? at : each.hashCode();
            }
        }
        return sum;
    }
}

class Arrays2 {
    static Object of(int size) {
        String[][] names = new String[size][3];
        names[0][1] = "x";
        Object[] all = {names, new int[] {1, 2}, new long[size]};
        return all[size];
    }
}

class Wides {
    double sum;

    double of(long first, double second, float third) {
        sum += first * second;
        return third > sum ? -sum : Math.floor(sum);
    }
}

class Lambdas {
    static Object of(String text) {
        Runnable task = () -> System.out.println(text);
        Function<String, Integer> size = String::length;
        task.run();
        return size.apply(text);
    }
}

class Joined {
    static String of(String name, int number) {
        return name + "\u00e4" + number;
    }
}

class Reflective {
    static Object of(String name) throws Exception {
        Class<?> found = Class.forName("a." + name);
        Object made = found.getDeclaredConstructor().newInstance();
        return found.getMethod("go", String.class).invoke(made, name);
    }
}

class Locked {
    synchronized void of(Object lock) {
        synchronized (lock) {
            lock.notifyAll();
        }
    }
}

class Outer {
    private int hidden;

    class Inner {
        int of() {
            return hidden++;
        }
    }

    static Object anonymous() {
        return new Object() {
            @Override
            public String toString() {
                return "anonymous";
            }
        };
    }
}

@Retention(RetentionPolicy.RUNTIME)
@interface Marked {
    String[] names() default {"a", "b"};

    Class<?> type() default Object.class;

    RetentionPolicy policy() default RetentionPolicy.CLASS;

    Deprecated nested() default @Deprecated;
}

@Marked(names = "c", type = int[].class)
class Annotated {
    @Deprecated
    Map<String, List<? super Integer>> table;

    @Marked
    <T> T of(@Marked T given) {
        return given;
    }
}

enum Colour {
    RED, GREEN
}

record Point(int x, String name) {
}

sealed interface Shape permits Circle {
}

final class Circle implements Shape {
    boolean is(Object other) {
        return other instanceof Shape shape && shape != this;
    }
}

class Checked {
    static void of(int number) {
        assert number > 0 : "few";
    }
}

class Caught {
    static int of(Object given) {
        try {
            return ((String) given).length();
        } catch (ClassCastException problem) {
            throw new IllegalArgumentException(problem);
        }
    }
}
