package kit;

import java.util.HashMap;
import java.util.Map;

/** Names go through fields, arrays, a map, builders and two computations before they are looked up. */
public class Kit {
    static String kept;
    String own;

    public static void main(String[] arguments) throws Exception {
        kept = arguments[0];
        Kit kit = new Kit();
        kit.own = System.getenv("KIT_FIELD");
        Object[] parts = {System.getProperty("kit.array")};
        Map<String, Object> byName = new HashMap<>();
        byName.put("part", System.getProperty("kit.map"));
        fromStatic();
        kit.fromField();
        fromArray(parts);
        fromMap(byName);
        built(System.getenv("KIT_BUILT"));
        twice(System.getProperty("kit.twice"));
        Class.forName("kit.Kit").getMethod(System.getProperty("kit.method")).invoke(null);
    }

    static Class<?> fromStatic() throws Exception {
        return Class.forName(kept);
    }

    Class<?> fromField() throws Exception {
        return Class.forName(own);
    }

    static Class<?> fromArray(Object[] parts) throws Exception {
        return Class.forName((String) parts[0]);
    }

    static Class<?> fromMap(Map<String, Object> byName) throws Exception {
        return Class.forName((String) byName.get("part"));
    }

    static Class<?> built(String name) throws Exception {
        StringBuilder text = new StringBuilder("kit.");
        text.append(name);
        return Class.forName(text.toString());
    }

    static Class<?> twice(String name) throws Exception {
        String inner = "kit.".concat(name);
        return Class.forName(inner.trim());
    }
}
