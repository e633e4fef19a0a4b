package shop.parts;

import shop.Main;

public class Door implements Part {
    @Checked
    String label;

    @Override
    public void fit() {
        label = Main.report();
    }
}
