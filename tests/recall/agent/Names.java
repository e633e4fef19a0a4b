package heliograph.recorder;

import heliograph.recall.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** Methods and call sites by number, and the classes that were seen. Methods and sites count from 1. */
final class Names {
    /** What stands at a site. A trigger is an instruction other than a call that may initialise a class. */
    enum Kind { STATIC, SPECIAL, VIRTUAL, INTERFACE, DYNAMIC, HANDLE, TRIGGER }

    /** A method, by the internal name of its class. */
    static final class Method {
        final String owner, name, descriptor;

        Method(String owner, String name, String descriptor) {
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
        }

        @Override
        public String toString() {
            return owner.replace('/', '.') + "." + name + descriptor;
        }
    }

    /** An instruction of {@code caller}; {@code named} is what it names, for a trigger a class. */
    static final class Site {
        final int caller, line;
        final Kind kind;
        final Method named;

        Site(int caller, int line, Kind kind, Method named) {
            this.caller = caller;
            this.line = line;
            this.kind = kind;
            this.named = named;
        }
    }

    private final List<Method> methods = new ArrayList<>();
    private final List<Site> sites = new ArrayList<>();
    private final Map<String, Integer> flags = new HashMap<>();
    private final Map<String, String> superclasses = new HashMap<>();

    Names() {
        methods.add(null);
        sites.add(null);
    }

    /** Notes the supertypes and the flags of the methods of a class. */
    synchronized void add(ClassNode node) {
        if (node.superName != null) superclasses.put(node.name, node.superName);
        flags.put(node.name, node.access);
        for (MethodNode each : node.methods) flags.put(key(node.name, each.name, each.desc), each.access);
    }

    synchronized int method(Method method) {
        methods.add(method);
        return methods.size() - 1;
    }

    /** Returns the number of a site, 0 if there are too many. */
    synchronized int site(Site site) {
        if (sites.size() == State.MOST_SITES) return 0;
        sites.add(site);
        return sites.size() - 1;
    }

    synchronized Method method(int method) {
        return methods.get(method);
    }

    synchronized Site site(int site) {
        return sites.get(site);
    }

    synchronized int siteCount() {
        return sites.size();
    }

    /**
     * Returns the method that a call enters if its names alone say so: the method to which it resolves, if
     * that can't be overridden. Null if not, or if the class wasn't seen.
     */
    synchronized Method bound(Site site) {
        if (site.kind != Kind.STATIC && site.kind != Kind.SPECIAL && site.kind != Kind.VIRTUAL) return null;
        Method named = site.named;
        for (String owner : supertypes(named.owner)) {
            Integer found = flags.get(key(owner, named.name, named.descriptor));
            if (found == null) continue;
            int fixed = Opcodes.ACC_FINAL | Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC;
            boolean sure = site.kind != Kind.VIRTUAL || (found & fixed) != 0
                    || (flags.getOrDefault(named.owner, 0) & Opcodes.ACC_FINAL) != 0;
            return sure ? new Method(owner, named.name, named.descriptor) : null;
        }
        return null;
    }

    /** Whether a call may enter {@code method}, as far as names say. */
    synchronized boolean answers(Site site, Method method) {
        Method named = site.named;
        if (!named.name.equals(method.name) || !named.descriptor.equals(method.descriptor)) return false;
        if (method.name.equals("<init>")) return named.owner.equals(method.owner);
        return site.kind != Kind.STATIC || supertypes(named.owner).contains(method.owner);
    }

    /** Returns a class and its superclasses, as far as they were seen. */
    synchronized List<String> supertypes(String type) {
        List<String> found = new ArrayList<>();
        for (String each = type; each != null; each = superclasses.get(each)) found.add(each);
        return found;
    }

    synchronized boolean isNative(Method method) {
        Integer found = flags.get(key(method.owner, method.name, method.descriptor));
        return found != null && (found & Opcodes.ACC_NATIVE) != 0;
    }

    private static String key(String owner, String name, String descriptor) {
        return owner + "." + name + descriptor;
    }
}
