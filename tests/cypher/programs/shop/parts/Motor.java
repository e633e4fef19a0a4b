package shop.parts;

/** Nothing but a string names this class. */
public class Motor {
    public static void start() {
        Engine.warm();
    }
}
