package heliograph.recorder;

/** The methods of the reflection API of which it is recorded what they returned or acted on. */
final class Api {
    private static final String CLASS = "java/lang/Class";
    private static final String[] RETURNING = {
        "java.lang.Class.forName", "java.lang.ClassLoader.loadClass", "java.lang.Class.getMethod",
        "java.lang.Class.getDeclaredMethod", "java.lang.Class.getConstructor", "java.lang.Class.getDeclaredConstructor",
        "java.lang.Class.getField", "java.lang.Class.getDeclaredField",
    };
    private static final String[] ENTERING = {
        "java.lang.reflect.Method.invoke", "java.lang.reflect.Constructor.newInstance", "java.lang.Class.newInstance",
        "java.lang.reflect.Field.get", "java.lang.reflect.Field.getBoolean", "java.lang.reflect.Field.getByte",
        "java.lang.reflect.Field.getChar", "java.lang.reflect.Field.getShort", "java.lang.reflect.Field.getInt",
        "java.lang.reflect.Field.getLong", "java.lang.reflect.Field.getFloat", "java.lang.reflect.Field.getDouble",
        "java.lang.reflect.Field.set", "java.lang.reflect.Field.setBoolean", "java.lang.reflect.Field.setByte",
        "java.lang.reflect.Field.setChar", "java.lang.reflect.Field.setShort", "java.lang.reflect.Field.setInt",
        "java.lang.reflect.Field.setLong", "java.lang.reflect.Field.setFloat", "java.lang.reflect.Field.setDouble",
    };

    private Api() {}

    /** Returns the number of the method whose result names its target, or -1. */
    static int returning(String owner, String name, String descriptor) {
        if (name.equals("loadClass") && descriptor.equals("(Ljava/lang/String;)Ljava/lang/Class;")) return 1;
        return owner.equals(CLASS) ? find(RETURNING, owner, name) : -1;
    }

    /** Returns the number of the method that is called on its target, or -1. */
    static int entering(String owner, String name) {
        int found = find(ENTERING, owner, name);
        return found < 0 ? -1 : RETURNING.length + found;
    }

    static String name(int api) {
        return api < RETURNING.length ? RETURNING[api] : ENTERING[api - RETURNING.length];
    }

    private static int find(String[] names, String owner, String name) {
        String wanted = owner.replace('/', '.') + "." + name;
        for (int each = 0; each < names.length; each++) if (names[each].equals(wanted)) return each;
        return -1;
    }
}
