package shop.parts;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Marks what the tests look for. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Checked {}
