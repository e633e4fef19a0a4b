"""A class library of a few dozen lines, so that the tests of commands needn't analyse a real one each time."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

SOURCES = {
    "java.lang.StringBuilder": "public class StringBuilder {}",
    "java.lang.Object": "public class Object { public final native Class<?> getClass();"
    ' public String toString() { return ""; } }',
    "java.lang.String": "public final class String implements java.io.Serializable {}",
    "java.io.Serializable": "public interface Serializable {}",
    "java.lang.Cloneable": "public interface Cloneable {}",
    "java.lang.Throwable": "public class Throwable {}",
    "java.lang.Exception": "public class Exception extends Throwable {}",
    "java.lang.RuntimeException": "public class RuntimeException extends Exception {}",
    "java.lang.Error": "public class Error extends Throwable {}",
    "java.lang.ClassNotFoundException": "public class ClassNotFoundException extends Exception {}",
    "java.lang.ThreadGroup": "public class ThreadGroup {}",
    "java.lang.Thread": "public class Thread { Runnable r; public Thread(Runnable r) { this.r = r; }"
    " public void run() { r.run(); } public void start() { start0(); } private native void start0(); }",
    "java.lang.Runnable": "public interface Runnable { void run(); }",
    "java.lang.System": "public final class System { public static native String getProperty(String key); }",
    "java.lang.ClassLoader": "public abstract class ClassLoader {"
    " public Class<?> loadClass(String name) throws ClassNotFoundException { return null; } }",
    "java.lang.Class": """public final class Class<T> {
    public static Class<?> forName(String name) throws ClassNotFoundException { return forName0(name); }
    private static native Class<?> forName0(String name);
    public T newInstance() { return null; }
    public native Class<? super T> getSuperclass();
    public java.lang.reflect.Method getMethod(String name, Class<?>... parameters) { return null; }
    public java.lang.reflect.Method[] getMethods() { return null; }
    public java.lang.reflect.Constructor<T> getConstructor(Class<?>... parameters) { return null; }
    public java.lang.reflect.Constructor<?>[] getConstructors() { return null; }
    public java.lang.reflect.Field getField(String name) { return null; } }""",
    "java.lang.reflect.Method": "public final class Method {"
    " public Object invoke(Object on, Object... arguments) { return null; } }",
    "java.lang.reflect.Constructor": "public final class Constructor<T> {"
    " public T newInstance(Object... arguments) { return null; } }",
    "java.lang.reflect.Field": "public final class Field { public Object get(Object on) { return null; }"
    " public void set(Object on, Object value) {} }",
    "java.lang.Override": "public @interface Override {}",
    "java.lang.Deprecated": "public @interface Deprecated {}",
    "java.lang.annotation.Annotation": "public interface Annotation {}",
    "java.lang.annotation.Retention": "public @interface Retention { RetentionPolicy value(); }",
    "java.lang.annotation.RetentionPolicy": "public enum RetentionPolicy { SOURCE, CLASS, RUNTIME }",
    "java.lang.Enum": "public abstract class Enum<E> { public Enum(String n, int o) {}"
    " public static <T> T valueOf(Class<T> c, String s) { return null; } }",
    **{
        f"java.lang.{name}": f"public final class {name} {{}}"
        for name in ("Integer", "Long", "Short", "Byte", "Character", "Boolean", "Float", "Double", "Void")
    },
}


def build(home: Path, javac: str) -> Path:
    """Compiles the library as that of Java 8 and returns its home."""
    sources, classes = home / "src", home / "classes"
    for name, text in SOURCES.items():
        package, _, simple = name.rpartition(".")
        file = sources / package.replace(".", "/") / f"{simple}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"package {package};\n{text}\n")
    compile_java(javac, sources, classes, "")
    (home / "lib").mkdir()
    with zipfile.ZipFile(home / "lib" / "rt.jar", "w") as archive:
        for each in sorted(classes.rglob("*.class")):
            archive.write(each, each.relative_to(classes))
    (home / "release").write_text('JAVA_VERSION="1.8.0_0"\n')
    return home


def compile_java(javac: str, sources: Path, classes: Path, library: str) -> None:
    """Compiles all files below `sources` against `library` alone."""
    files = [str(each) for each in sorted(sources.rglob("*.java"))]
    options = ["-nowarn", "-g", "-source", "8", "-target", "8", "-Xlint:-options", "-bootclasspath", library]
    command = [javac, *options, "-extdirs", "", "-cp", str(classes), "-d", str(classes), *files]
    classes.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
