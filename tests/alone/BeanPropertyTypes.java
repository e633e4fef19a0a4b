import java.beans.IndexedPropertyDescriptor;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import support.Probe;

/**
 * The type of a property is what its getter returns, or its setter takes last.
 * Positive: relatedClass.
 * Negative: relatedClass.
 * Covers: PropertyDescriptor.getPropertyType, IndexedPropertyDescriptor.getIndexedPropertyType.
 */
public class BeanPropertyTypes {
    public static class Read {
        public Read() { Probe.reached(); }
    }
    public static class Written {
        public Written() { Probe.reached(); }
    }
    public static class Cell {
        public Cell() { Probe.reached(); }
    }
    public static class Other {
        public Other() { Probe.reached(); }
    }
    public static class ReadOnly {
        public Read getRead() { return null; }
        public Other other() { return null; }
    }
    public static class WriteOnly {
        public void setWritten(Written written) { }
        public void other(Other other) { }
    }
    public static class Cells {
        public void setCell(int index, Cell cell) { }
    }

    static PropertyDescriptor only(Class<?> bean) throws Exception {
        return Introspector.getBeanInfo(bean, Object.class).getPropertyDescriptors()[0];
    }

    public static void main(String[] args) throws Exception {
        only(ReadOnly.class).getPropertyType().getConstructor().newInstance(); // $ points-to: calls=Read.<init> SPURIOUS: calls=Written.<init>
        only(WriteOnly.class).getPropertyType().getConstructor().newInstance(); // $ points-to: calls=Written.<init> SPURIOUS: calls=Read.<init>
        IndexedPropertyDescriptor cells = (IndexedPropertyDescriptor) only(Cells.class);
        cells.getIndexedPropertyType().getConstructor().newInstance(); // $ points-to: calls=Cell.<init>
    }
}
