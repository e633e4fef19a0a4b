import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * What the JVM makes of class files and archives. Reads batches from its input and answers each on its output.
 *
 * A batch is a number of questions; a question is a kind, a length and as many bytes; an answer is a length and
 * as many bytes of text.
 *
 * Kind 0, the bytes are a class file: it is defined in a loader of its own, which checks its format, but neither
 * linked nor initialised. `defined FLAGS NAME SUPERCLASS INTERFACE…` if it is, `supertypes ERROR` if only its
 * superclass or its package was in the way, else `refused ERROR`. Interfaces that don't exist are made up.
 *
 * Kind 1, the bytes are the path of an archive: `refused`, or a line `ok` and `NAME:SIZE:CRC` of each entry (the
 * CRC that of the content as far as the declared size, `!` if it can't be read), then a line of ZipOracle.
 *
 * Names are in hexadecimal UTF-16.
 */
class FuzzOracle {
    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (EOFException end) {
                return;
            }
            byte[][] questions = new byte[count][];
            byte[] kinds = new byte[count];
            for (int at = 0; at < count; at++) {
                kinds[at] = in.readByte();
                questions[at] = in.readNBytes(in.readInt());
            }
            for (int at = 0; at < count; at++) {
                String answer = kinds[at] == 0 ? define(questions[at])
                        : archive(new String(questions[at], StandardCharsets.UTF_8));
                byte[] text = answer.getBytes(StandardCharsets.UTF_8);
                out.writeInt(text.length);
                out.write(text);
            }
            out.flush();
        }
    }

    /** A loader of one class, and of an interface for each name that nobody else has a class for. */
    static class Loader extends ClassLoader {
        Loader() {
            super(ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            try {
                return super.loadClass(name, resolve);
            } catch (ClassNotFoundException missing) {
                try {
                    return define(emptyInterface(name.replace('.', '/')));
                } catch (SecurityException | LinkageError impossible) {
                    throw missing;
                }
            }
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    static String define(byte[] bytes) {
        Loader loader = new Loader();
        try {
            Class<?> defined = loader.define(bytes);
            StringJoiner answer = new StringJoiner(" ");
            answer.add("defined").add(Integer.toString(defined.getModifiers())).add(hex(defined.getName()));
            answer.add(defined.isInterface() ? hex("java.lang.Object") : hex(defined.getSuperclass().getName()));
            for (Class<?> each : defined.getInterfaces()) {
                answer.add(hex(each.getName()));
            }
            return answer.toString();
        } catch (Throwable refusal) {
            return (isOfSupertypes(refusal) ? "supertypes " : "refused ") + refusal;
        }
    }

    /** Whether the whole class file was read, and only then something found wrong with what the class extends. */
    static boolean isOfSupertypes(Throwable refusal) {
        String text = String.valueOf(refusal.getMessage());
        return refusal instanceof SecurityException || refusal instanceof IllegalAccessError
                || refusal instanceof VerifyError
                || refusal instanceof IncompatibleClassChangeError && text.contains("super class");
    }

    static byte[] emptyInterface(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0xCAFEBABE);
            out.writeInt(52);
            out.writeShort(5);
            for (String each : new String[] {name, "java/lang/Object"}) {
                out.writeByte(1);
                out.writeUTF(each);
            }
            for (int each : new int[] {1, 2}) {
                out.writeByte(7);
                out.writeShort(each);
            }
            for (int each : new int[] {0x601, 3, 4, 0, 0, 0, 0}) {
                out.writeShort(each);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return bytes.toByteArray();
    }

    static String archive(String path) throws IOException {
        StringBuilder out = new StringBuilder("ok");
        try (ZipFile zip = new ZipFile(new File(path))) {
            TreeSet<String> names = new TreeSet<>();
            zip.stream().forEach(entry -> names.add(entry.getName()));
            for (String name : names) {
                ZipEntry entry = zip.getEntry(name);
                if (entry != null && entry.getName().equals(name)) {
                    out.append(' ').append(hex(name)).append(':').append(entry.getSize());
                    out.append(':').append(content(zip, entry));
                }
            }
        } catch (Exception | OutOfMemoryError refused) {
            return "refused";
        }
        try {
            return out.append('\n').append(ZipOracle.list(path)).toString();
        } catch (Exception failed) {
            throw new IOException(failed);
        }
    }

    /** No more than the declared size, which is what class loaders read; fewer bytes are an error to them. */
    static String content(ZipFile zip, ZipEntry entry) {
        try (InputStream in = zip.getInputStream(entry)) {
            int size = (int) Math.min(Math.max(entry.getSize(), 0), Integer.MAX_VALUE);
            byte[] bytes = in.readNBytes(size);
            if (bytes.length < size) {
                return "!";
            }
            CRC32 sum = new CRC32();
            sum.update(bytes);
            return Long.toString(sum.getValue());
        } catch (Exception | OutOfMemoryError failed) {
            return "!";
        }
    }

    static String hex(String name) {
        StringBuilder out = new StringBuilder("x");
        for (char each : name.toCharArray()) { // (a charset would replace surrogates that don't pair)
            out.append(HexFormat.of().toHexDigits(each));
        }
        return out.toString();
    }
}
