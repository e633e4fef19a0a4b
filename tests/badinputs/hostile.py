"""A folder of inputs that would do harm to a careless reader."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.badinputs.zips import Item, build, class_file, manifest, nested_bomb, quoted_overlap
from tests.loader.rawclass import RawClass, u2


def write_hostile(folder: Path) -> list[Path]:
    """Writes archives into `folder` and returns their paths; the first can be analysed and has a `main`."""
    raw = RawClass()
    handle = raw.pool.handle(6, raw.pool.method("java/lang/Runtime", "exec", "(Ljava/lang/String;)V"))
    raw.attributes.append(
        ("BootstrapMethods", struct.pack(">HHHH", 1, handle, 1, raw.pool.string("touch x")))
    )
    code = b"\xba" + u2(raw.pool.dynamic(18, 0, "d", "()V")) + b"\0\0\xb1"
    raw.method(code, "([Ljava/lang/String;)V", name="main", flags=9)
    # What would run if the class were loaded.
    call = raw.pool.method("java/lang/System", "exit", "(I)V")
    raw.method(b"\x04\xb8" + u2(call) + b"\xb1", name="<clinit>")
    head = manifest(
        Main_Class="T",
        Class_Path="../../secret.jar http://127.0.0.1:9/y.jar file:/etc/passwd",
        Launcher_Agent_Class="T",
    )
    archives = {
        "app.jar": build([
            head, Item(b"T.class", raw.encoded()), Item(b"META-INF/services/java.lang.Runnable", b"T\n"),
            Item(b"META-INF/X.SF", b""), Item(b"META-INF/X.RSA", b""),
            Item(b"conf.yaml", b"!!python/object/apply:os.system ['touch x']"),
            Item(b"data.pkl", b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94."),
            Item(b"lib/inner.jar", build([Item(b"I.class", class_file("I"))])),
        ]),
        "names.jar": build([
            Item(name, class_file("A")) for name in (
                b"../../etc/x.class", b"/tmp/A.class", b"C:\\A.class", b"x/../A.class", b"A\0B.class", b"\x1b[2J.class",
            )
        ] + [
            Item(b"link.class", b"/etc/passwd", made_by=3 << 8, attributes=0xA1FF << 16),
            Item(b"A.class", class_file("A"), local_name=b"../B.class"),
            Item(b"B.class", b"\xca\xfe\xba\xbe"), Item(b"C.class", RawClass(name="Other").encoded()),
        ]),
        "bomb.jar": quoted_overlap(250, bytes(22 << 20)),
        "nested.jar": nested_bomb(levels=5, width=3, megabytes=2),
        "modules": b"\xda\xda\xfe\xca" + bytes(100),
        "x.jmod": b"JM\1\0" + bytes(50),
        "empty.jar": b"",
    }  # fmt: skip
    for name, data in archives.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in archives]
