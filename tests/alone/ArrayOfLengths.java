import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import support.Probe;

/**
 * Arrays of arrays are made reflectively, with the lengths in an array: those of each dimension hold those of the next.
 * Deeper ones than are told apart hold whatever comes to them.
 * Positive: newArray.
 * Negative: newArray.
 * Covers: Array.newInstance with lengths.
 */
class ArrayOfLengths {
    static class A { void go() { Probe.reached(); } }
    static class B { void go() { Probe.reached(); } }
    static class C { void go() { Probe.reached(); } }
    static class D { void go() { Probe.reached(); } }

    static class E { void go() { Probe.reached(); } }

    static class F {
        void go() { Probe.reached(); }
        static void askedOfDeepest() { }
    }

    static void found(Object handle) { Probe.reached(); }
    static void refused() { Probe.reached(); }

    public static void main(String[] args) throws Exception {
        A[][] made = (A[][]) Array.newInstance(A.class, new int[] {1, 1});
        made[0][0] = new A();
        made[0][0].go(); // $ points-to: calls=A.go
        Object inner = Array.get(Array.newInstance(B.class, 1, 1), 0);
        Array.set(inner, 0, new B());
        ((B[]) inner)[0].go(); // $ points-to: calls=B.go
        C[][][] deep = (C[][][]) Array.newInstance(C.class, 1, 1, 1);
        deep[0][0][0] = new C();
        deep[0][0][0].go(); // $ points-to: calls=C.go
        D[][][] deeper = (D[][][]) Array.newInstance(D[][].class, 1);
        deeper[0] = new D[][] {{new D()}};
        deeper[0][0][0].go(); // $ points-to: calls=D.go
        Object[] deepest = (Object[]) Array.newInstance(F[][].class, 1);
        deepest[0] = new F[][] {{new F()}};
        ((F[][]) deepest[0])[0][0].go(); // $ calls=F.go
        Class<?> element = deepest.getClass().getComponentType().getComponentType().getComponentType();
        Method asked = element.getDeclaredMethod("askedOfDeepest");
        MethodHandles.lookup().unreflect(asked).describeConstable().ifPresent(ArrayOfLengths::found); // $ points-to: reaches=ArrayOfLengths.found
        Object flat = Array.newInstance(E.class, 1);
        ((E[]) flat)[0] = new E();
        if (flat instanceof E[][]) {
            ((E[][]) flat)[0][0].go();
        } else {
            refused(); // $ calls=ArrayOfLengths.refused
        }
    }
}
