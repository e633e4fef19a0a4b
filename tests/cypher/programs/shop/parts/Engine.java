package shop.parts;

public class Engine {
    static void cold() {}

    public static void warm() {}
}
