import java.io.FileReader;
import java.io.Reader;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** A bean whose properties are set by names that a file has: nothing says so in the program. */
public class Bean {
    private Item item;
    private final List<Item> parts = new ArrayList<>();
    Item chosen;

    public void setItem(Item item) { this.item = item; }
    public void addPart(Item part) { parts.add(part); }
    Item item() { return item; }

    public static void main(String[] arguments) throws Exception {
        Properties names = new Properties();
        try (Reader file = new FileReader(arguments[0])) {
            names.load(file);
        }
        Bean bean = new Bean();
        Bean.class.getMethod(names.getProperty("setter"), Item.class).invoke(bean, new Item());
        Bean.class.getMethod(names.getProperty("adder"), Item.class).invoke(bean, new Item());
        Bean.class.getDeclaredField(names.getProperty("field")).set(bean, new Item());
        bean.useItem();
        bean.useParts();
        bean.useChosen();
    }

    void useItem() { item().use(); }
    void useChosen() { chosen.use(); }

    void useParts() {
        for (Item each : parts) each.use();
    }
}

class Item {
    void use() {}
}
