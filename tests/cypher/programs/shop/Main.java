package shop;

import java.io.BufferedReader;
import java.io.FileReader;
import shop.parts.Checked;
import shop.parts.Door;
import shop.parts.Engine;
import shop.parts.Part;
import shop.parts.Wheel;

/** A name comes to a reflective call in each way once. */
@Checked
public class Main {
    static String owner;

    public static void main(String[] arguments) throws Exception {
        owner = "me";
        byConstant();
        byProperty();
        byArgument(arguments);
        byLine();
        byMethodName();
        byComputed();
        fit(arguments.length == 0 ? new Wheel() : new Door());
        needsPhantom();
    }

    static Object byConstant() throws Exception {
        Class<?> type = Class.forName("shop.parts.Motor");
        return type.getMethod("start").invoke(null);
    }

    static Class<?> byProperty() throws Exception {
        return look(System.getProperty("shop.part"));
    }

    static Class<?> look(String name) throws Exception {
        return Class.forName(name);
    }

    static Class<?> byArgument(String[] arguments) throws Exception {
        return Class.forName(arguments[0]);
    }

    static Class<?> byLine() throws Exception {
        BufferedReader lines = new BufferedReader(new FileReader("parts.txt"));
        return Class.forName(lines.readLine());
    }

    static Object byMethodName() throws Exception {
        return Main.class.getMethod(System.getenv("SHOP_METHOD")).invoke(null);
    }

    static Class<?> byComputed() throws Exception {
        return Class.forName("shop.parts.".concat(System.getProperty("shop.kind")));
    }

    static void fit(Part part) {
        part.fit();
    }

    /** Calls back from the other package, so that the two need each other. */
    public static String report() {
        return owner;
    }

    static void needsPhantom() {
        Absent.call();
    }

    static void dead() {
        Engine.warm();
    }
}
