package shop.parts;

public class Wheel implements Part {
    static final Object RIM = new Object();

    @Override
    @Checked
    public void fit() {}
}
