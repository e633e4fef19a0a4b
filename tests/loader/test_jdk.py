"""Finding the class library of a Java installation."""

from pathlib import Path

import pytest

from loader.archives import Refused, open_inputs
from loader.jdk import Jdk, JdkNotFound, at, find_jdk
from tests.badinputs import jimages
from tests.badinputs.zips import Item, build, class_file

OBJECT = class_file("java/lang/Object")  # of version 52, that of Java 8


def image() -> bytes:
    return jimages.build([jimages.Resource("java.base", "java/lang", "Object", "class", OBJECT)])


def jar(*names: str) -> bytes:
    return build([Item(f"{name}.class".encode(), class_file(name)) for name in names])


def installed(home: Path, **files: bytes) -> Path:
    """Writes files; `lib__rt_jar` stands for `lib/rt.jar`."""
    for name, data in files.items():
        path = home / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return home


def names(jdk: Jdk) -> list[str]:
    return [str(each.relative_to(jdk.home)) for each in jdk.files]


def test_release_9_and_later(tmp_path: Path) -> None:
    home = installed(
        tmp_path, lib__modules=image(), release=b'A="b"\nJAVA_VERSION="21.0.1"\n', lib__rt_jar=b""
    )
    jdk = at(home)
    assert (jdk.version, jdk.kind, names(jdk)) == (21, "jimage", ["lib/modules"])
    assert at(home / "lib" / "modules") == jdk


def test_release_8(tmp_path: Path) -> None:
    rt = jar("java/lang/Object")
    files = {
        "jre__lib__rt_jar": rt,
        "jre__lib__jce_jar": rt,
        "jre__lib__deploy_jar": rt,
        "lib__tools_jar": rt,
    }
    home = installed(
        tmp_path, **files, jre__lib__ext__b_jar=rt, jre__lib__ext__a_jar=rt, release=b'JAVA_VERSION="1.8.0_9"'
    )
    jdk = at(home)
    assert (jdk.version, jdk.kind) == (8, "rt")
    assert names(jdk) == ["jre/lib/rt.jar", "jre/lib/jce.jar", "jre/lib/ext/a.jar", "jre/lib/ext/b.jar"]
    assert at(home / "jre").version == 8


@pytest.mark.parametrize("place", ["lib__rt_jar", "rt_jar"])
def test_the_version_without_a_release_file(tmp_path: Path, place: str) -> None:
    assert at(installed(tmp_path, **{place: jar("java/lang/Object")})).version == 8
    assert at(installed(tmp_path / "image", lib__modules=image())).version == 8


def test_jmods(tmp_path: Path) -> None:
    files = {
        f"jmods__{name}_jmod": b"JM\1\0"
        + build([Item(f"classes/{content}.class".encode(), class_file(content))])
        for name, content in (("a", "a/A"), ("java.base", "java/lang/Object"))
    }
    jdk = at(installed(tmp_path, **files))
    assert (jdk.version, jdk.kind, names(jdk)) == (8, "jmods", ["jmods/java.base.jmod", "jmods/a.jmod"])
    app = tmp_path / "app.jar"
    app.write_bytes(jar("App"))
    inputs = open_inputs([str(app)], jdk=tmp_path)
    assert [(each.role, each.class_names()) for each in inputs.archives] == [
        ("jdk", ["java/lang/Object.class"]), ("jdk", ["a/A.class"]), ("application", ["App.class"]),
    ]  # fmt: skip
    assert (inputs.release, inputs.jdk) == (8, jdk)


def test_where_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, other = (
        installed(tmp_path / "a", lib__modules=image()),
        installed(tmp_path / "b", lib__modules=image()),
    )
    java = installed(other, bin__java=b"#!/bin/sh\nexit 1\n") / "bin" / "java"
    java.chmod(0o755)
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "java").symlink_to(java)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_jdk().home == home
    assert find_jdk(str(other)).home == other
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "path"))
    assert find_jdk().home == other
    monkeypatch.delenv("JAVA_HOME")
    assert find_jdk().home == other
    monkeypatch.setenv("PATH", "")
    with pytest.raises(JdkNotFound, match="install a JDK, or name one with --jdk"):
        find_jdk()
    with pytest.raises(JdkNotFound, match="neither lib/modules"):
        find_jdk(str(tmp_path / "path"))


def test_a_damaged_image_is_refused(tmp_path: Path) -> None:
    home = installed(tmp_path, lib__modules=b"no image", release=b'JAVA_VERSION="17"')
    app = tmp_path / "app.jar"
    app.write_bytes(jar("App"))
    with pytest.raises(Refused) as refused:
        open_inputs([str(app)], jdk=home)
    assert refused.value.diagnostic.code == "ARC-JIMAGE"
    (home / "release").unlink()
    with pytest.raises(JdkNotFound, match=r"no class java\.lang\.Object"):
        at(home)


def test_the_digest_of_an_image_follows_its_index_and_time(tmp_path: Path) -> None:
    def digest(data: bytes) -> str:
        home = installed(tmp_path, lib__modules=data, release=b'JAVA_VERSION="17"', app_jar=jar("App"))
        return open_inputs([str(home / "app.jar")], jdk=home).archives[0].digest

    first = digest(image())
    assert first != digest(jimages.build([]))
    assert len(first) == 64
