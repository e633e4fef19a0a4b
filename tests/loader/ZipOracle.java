import java.io.EOFException;
import java.io.File;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.ZipFile;

/**
 * What the JVM makes of archives. Reads lines from the file args[0] and prints a line for each.
 *
 * `list JAR`: `refused`, or for each class `name:sha256` of the bytes that a class loader would define, `name:!` if
 * it would fail to, or to define a class of none; names in hexadecimal UTF-8. `load JAR NAME`: the constant V of the class of that
 * (hexadecimal) name as a class loader finds it, or `!` and the error. `refused` may come with either. `read JAR NAME`:
 * the bytes, in hexadecimal, of the file of that name as a class loader gives it, or `!`.
 */
class ZipOracle {
    public static void main(String[] args) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] words = line.split(" ");
            out.append(switch (words[0]) {
                case "list" -> list(words[1]);
                case "read" -> read(words[1], text(words[2]));
                default -> load(words[1], text(words[2]));
            }).append('\n');
        }
        Files.writeString(Path.of(args[1]), out);
    }

    static String list(String path) throws Exception {
        StringBuilder out = new StringBuilder("ok");
        try (JarFile jar = new JarFile(new File(path), false, ZipFile.OPEN_READ, Runtime.version())) {
            jar.getManifest(); // a class loader that can't read it defines no class of a package
            JarEntry manifest = jar.stream().filter(each -> each.getName().equalsIgnoreCase(JarFile.MANIFEST_NAME))
                    .reduce((first, second) -> second).orElse(null);
            if (manifest != null && content(jar, manifest).equals("!")) {
                return "refused";
            }
            TreeSet<String> names = new TreeSet<>();
            jar.stream().forEach(entry -> names.add(entry.getName()));
            jar.versionedStream().forEach(entry -> names.add(entry.getName()));
            TreeSet<String> classes = new TreeSet<>();
            for (String name : names) {
                classes.add(name.endsWith("/") ? name.substring(0, name.length() - 1) : name);
            }
            for (String name : classes) {
                JarEntry entry = name.endsWith(".class") ? jar.getJarEntry(name) : null;
                if (entry != null) {
                    out.append(' ').append(HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8)));
                    out.append(':').append(content(jar, entry));
                }
            }
        } catch (Exception | OutOfMemoryError refused) {
            return "refused";
        }
        return out.toString();
    }

    /** As jdk.internal.loader.Resource.getBytes: no more than the declared size, and an error if there are fewer. */
    static String content(JarFile jar, JarEntry entry) throws Exception {
        try (InputStream in = jar.getInputStream(entry)) {
            int size = (int) entry.getSize();
            byte[] bytes = size == -1 ? in.readAllBytes() : in.readNBytes(Math.max(size, 0));
            if (bytes.length < size || bytes.length == 0) {
                throw new EOFException();
            }
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (Exception | OutOfMemoryError failed) {
            return "!";
        }
    }

    static String load(String path, String name) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {new File(path).toURI().toURL()}, null)) {
            return (String) Class.forName(name, false, loader).getField("V").get(null);
        } catch (Throwable failed) {
            return "!" + failed.getClass().getSimpleName();
        }
    }

    static String read(String path, String name) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {new File(path).toURI().toURL()}, null);
                InputStream in = loader.getResourceAsStream(name)) {
            return HexFormat.of().formatHex(in.readAllBytes());
        } catch (Exception failed) {
            return "!";
        }
    }

    static String text(String hex) {
        return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8);
    }
}
