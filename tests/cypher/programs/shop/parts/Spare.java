package shop.parts;

/** Nobody needs it. */
public class Spare {
    public void rust() {}
}
