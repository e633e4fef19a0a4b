import java.beans.PropertyDescriptor;
import support.Probe;

/**
 * A description of a property is told the names of its accessors.
 * Covers: PropertyDescriptor, by property name, class, and the names of the methods that read and write.
 */
public class BeanAccessorsNamed {
    public static class Part {
        public Part() { Probe.reached(); }
    }
    public static class Base {
        public void write(Part part) { Probe.reached(); }
    }
    public static class Bean extends Base {
        public Part read() { Probe.reached(); return null; }
        public Part other() { Probe.reached(); return null; }
    }

    public static void main(String[] args) throws Exception {
        PropertyDescriptor tag = new PropertyDescriptor("tag", Bean.class, "read", "write");
        Bean bean = new Bean();
        tag.getReadMethod().invoke(bean); // $ points-to: calls=Bean.read
        tag.getWriteMethod().invoke(bean, new Part()); // $ calls=Part.<init> points-to: calls=Base.write
    }
}
