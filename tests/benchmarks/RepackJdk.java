import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes the classes of the JDK that runs it into one jar, as analysers want it that know no {@code lib/modules}.
 * A package is in one module only, so no two classes share an entry; of {@code module-info} there is none.
 */
public final class RepackJdk {
    public static void main(String[] arguments) throws IOException {
        FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
        Set<String> written = new HashSet<>();
        try (OutputStream file = new BufferedOutputStream(Files.newOutputStream(Path.of(arguments[0])));
                ZipOutputStream jar = new ZipOutputStream(file);
                Stream<Path> modules = Files.list(runtime.getPath("/modules"))) {
            for (Path module : modules.sorted().collect(Collectors.toList())) {
                for (Path entry : classesOf(module)) {
                    String name = module.relativize(entry).toString();
                    if (written.add(name)) {
                        jar.putNextEntry(new ZipEntry(name));
                        Files.copy(entry, jar);
                        jar.closeEntry();
                    }
                }
            }
        }
        System.out.println(written.size());
    }

    private static List<Path> classesOf(Path module) throws IOException {
        try (Stream<Path> tree = Files.walk(module)) {
            return tree.filter(each -> each.toString().endsWith(".class"))
                    .filter(each -> !each.getFileName().toString().equals("module-info.class"))
                    .sorted()
                    .collect(Collectors.toList());
        }
    }
}
