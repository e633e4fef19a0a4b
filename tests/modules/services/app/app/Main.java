package app;

import greeting.Goer;
import java.util.ServiceLoader;

/**
 * A module declares the classes that provide a service, in packages that nobody else sees: each is made by its public
 * constructor, or by its static method provider. Files that list providers count outside of modules only.
 * Covers: provides with, provider methods, uses.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        for (Goer goer : ServiceLoader.load(Goer.class)) { // $ SPURIOUS: calls=provider.Constructed.<init> calls=provider.Factory.provider calls=provider.Unlisted.<init>
            goer.go(); // $ calls=provider.Constructed.go calls=provider.Made.go SPURIOUS: calls=provider.Unlisted.go
        }
    }
}
