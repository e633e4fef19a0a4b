"""Explains how two call graphs of one program differ: what is only in one, of which kind, and what brings it in.

A difference of thousands of methods mostly has few causes. A *root* is a method of one graph alone that code
of both graphs calls there, or that no call reaches; with each root stands how many further methods it alone
brings in, that is, how many its node dominates.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.callgraphs import CallGraph, Method, method_of_descriptor, read_jcg, read_peer

BATCH = 500
Calls = Mapping[Method, Iterable[Method]]


class Root(NamedTuple):
    """A method of one graph alone that starts a difference, and how many methods it alone brings in."""

    method: Method
    caller: Method | None
    brings: int


# The first that holds is the kind of a method.
KINDS: tuple[tuple[str, Callable[[Method], bool]], ...] = (
    ("class initialiser", lambda method: method.name == "<clinit>"),
    ("finalizer", lambda method: method.name == "finalize" and not method.parameters),
    (
        "lambda body or class",
        lambda method: "lambda$" in method.name or re.search(r"\$\$?[Ll]ambda", method.declaring) is not None,
    ),
    ("method handles", lambda method: method.declaring.startswith("java.lang.invoke.")),
    (
        "exception constructor",
        lambda method: method.name == "<init>" and re.search(r"(Exception|Error)$", method.declaring) is not None,
    ),
    ("reflection API", lambda method: _in(method, "java.lang.reflect.", "jdk.internal.reflect.", "java.lang.Class.")),
    ("annotations", lambda method: _in(method, "sun.reflect.", "java.lang.annotation.")),
    ("service loader", lambda method: _in(method, "java.util.ServiceLoader.")),
    (
        "serialization",
        lambda method: _in(method, "java.io.Object")
        or method.name in {"readObject", "writeObject", "readResolve", "writeReplace", "readObjectNoData"},
    ),
    ("thread", lambda method: _in(method, "java.lang.Thread.", "java.lang.ThreadGroup.", "java.lang.Shutdown.")),
    ("run, call or compute", lambda method: method.name in {"run", "call", "compute"} and not method.parameters),
    ("constructor", lambda method: method.name == "<init>"),
)  # fmt: skip


def _in(method: Method, *places: str) -> bool:
    return f"{method.declaring.partition('$')[0]}.".startswith(places)


def kind_of(method: Method, natives: frozenset[Method] = frozenset()) -> str:
    """Returns the kind of `method`, one of KINDS, `native` or `other`.

    >>> kind_of(Method("a.B", "<clinit>", (), "void"))
    'class initialiser'
    """
    if method in natives:
        return "native"
    return next((kind for kind, holds in KINDS if holds(method)), "other")


def package_of(method: Method) -> str:
    """Returns at most the first three parts of the package: enough to tell subsystems apart.

    >>> package_of(Method("sun.security.ssl.a.B", "m", (), "void"))
    'sun.security.ssl'
    """
    return ".".join(method.declaring.split(".")[:-1][:3]) or "(default)"


def roots(mine: CallGraph, other: CallGraph) -> list[Root]:
    """Returns the roots of what is in `mine` only, those that bring in most first.

    A class initialiser has no caller in a call graph; it hangs on the methods of its class that are in `mine`
    only, if there are any. Methods that call each other and nothing else calls have one of them as root.
    """
    only = mine.methods - other.methods
    inside: defaultdict[Method, set[Method]] = defaultdict(set)
    entered: dict[Method, Method | None] = {}
    called: set[Method] = set()
    for caller, callee in mine.calls:
        if callee in only and caller in only:
            inside[caller].add(callee)
            called.add(callee)
        elif callee in only and (callee not in entered or str(caller) < str(entered[callee])):
            entered[callee] = caller
    for initialiser in (each for each in only if each.name == "<clinit>"):
        for method in (
            each for each in only if each.declaring == initialiser.declaring and each != initialiser
        ):
            inside[method].add(initialiser)
            called.add(initialiser)
    for method in sorted(only - called - entered.keys()):
        entered[method] = None
    _enter_islands(sorted(only), inside, entered)
    sizes = dominated(inside, sorted(entered))
    found = [Root(method, caller, sizes[method] - 1) for method, caller in entered.items() if method in sizes]
    return sorted(found, key=lambda root: (-root.brings, root.method))


def _enter_islands(only: list[Method], inside: Calls, entered: dict[Method, Method | None]) -> None:
    seen = set(_reached(inside, entered))
    for method in only:
        if method not in seen:
            entered[method] = None
            seen.update(_reached(inside, [method]))


def _reached(calls: Calls, starts: Iterable[Method]) -> list[Method]:
    """Returns what `starts` reach, callers after their callees except in cycles (postorder)."""
    seen: set[Method] = set()
    order: list[Method] = []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(sorted(calls.get(start, ()))))]
        while stack:
            method, following = stack[-1]
            fresh = next((each for each in following if each not in seen), None)
            if fresh is None:
                order.append(method)
                stack.pop()
            else:
                seen.add(fresh)
                stack.append((fresh, iter(sorted(calls.get(fresh, ())))))
    return order


def dominated(calls: Calls, starts: list[Method]) -> dict[Method, int]:
    """Returns for each start how many methods only it reaches, itself included.

    Starts that another start dominates count among that one's and have an entry, too. The dominators are found
    by iteration over reverse postorder (Cooper, Harvey, Kennedy 2001); one virtual node precedes all starts.
    """
    order = _reached(calls, starts)
    number = {method: place for place, method in enumerate(order)}
    entry = len(order)
    predecessors: list[set[int]] = [set() for _ in order]
    for method in order:
        for callee in calls.get(method, ()):
            predecessors[number[callee]].add(number[method])
    for start in starts:
        predecessors[number[start]].add(entry)
    parent = [-1] * entry + [entry]
    changed = True
    while changed:
        changed = False
        for node in range(entry - 1, -1, -1):
            best = -1
            for each in predecessors[node]:
                if parent[each] >= 0:
                    best = each if best < 0 else _common(parent, best, each)
            if parent[node] != best:
                parent[node] = best
                changed = True
    sizes = [1] * (entry + 1)
    for node in range(entry):  # children have smaller numbers than their dominators
        sizes[parent[node]] += sizes[node]
    return {start: sizes[number[start]] for start in starts}


def _common(parent: list[int], left: int, right: int) -> int:
    while left != right:
        if left < right:
            left = parent[left]
        else:
            right = parent[right]
    return left


def natives_of(methods: Iterable[Method], classpath: str) -> frozenset[Method]:
    """Returns which of `methods` are native, as `javap` says; none without a JDK."""
    javap = shutil.which("javap")
    wanted = frozenset(methods)
    classes = sorted({method.declaring for method in wanted})
    found: set[Method] = set()
    for first in range(0, len(classes) if javap else 0, BATCH):
        command = [
            str(javap),
            "-p",
            "-s",
            *(["-cp", classpath] if classpath else []),
            *classes[first : first + BATCH],
        ]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found.update(_natives_in(text))
    return wanted & found


def _natives_in(text: str) -> Iterator[Method]:
    declaring, name = "", ""
    for line in text.splitlines():
        header = re.match(r"\S.*?\b(?:class|interface) ([\w.$]+)", line)
        declaration = re.match(r"  .*\bnative\b.*?([\w$]+)\(", line)
        if header:
            declaring = header[1]
        elif declaration:
            name = declaration[1]
        elif name and "descriptor: " in line:
            yield method_of_descriptor(declaring, name, line.partition("descriptor: ")[2].strip())
            name = ""


def report(ours: CallGraph, theirs: CallGraph, natives: frozenset[Method], limit: int) -> Iterator[str]:
    """Yields the lines of the whole comparison, at most `limit` a list."""
    common = ours.methods & theirs.methods
    yield f"methods: heliograph {len(ours.methods):,}, Tai-e {len(theirs.methods):,}, both {len(common):,}"
    yield (
        f"edges (site, callee): heliograph {ours.edges:,}, Tai-e {theirs.edges:,}; pairs of methods: "
        f"heliograph {len(ours.calls):,}, Tai-e {len(theirs.calls):,}, both {len(ours.calls & theirs.calls):,}"
    )
    for name, mine, other in (("heliograph", ours, theirs), ("Tai-e", theirs, ours)):
        only = mine.methods - other.methods
        yield f"\nmethods only in {name}: {len(only):,}"
        yield from _counted("by kind", (kind_of(each, natives) for each in only), limit)
        yield from _counted("by package", map(package_of, only), limit)
        yield "  roots, and how many further methods each alone brings in"
        found = roots(mine, other)
        for root in found[:limit]:
            caller = f"called by {root.caller}" if root.caller else "no call leads there"
            yield f"  {root.brings:>6}  {root.method} [{kind_of(root.method, natives)}]; {caller}"
        yield f"          ({len(found):,} roots in all)"
        between = [
            (caller, callee)
            for caller, callee in mine.calls - other.calls
            if caller in common and callee in common
        ]
        yield f"\npairs only in {name} between methods of both: {len(between):,}"
        yield from _counted(
            "by kind of the callee", (kind_of(callee, natives) for _, callee in between), limit
        )
        yield from _counted("by callee", (str(callee) for _, callee in between), limit)
        yield from _counted("by caller", (str(caller) for caller, _ in between), limit)


def _counted(title: str, values: Iterable[str], limit: int) -> Iterator[str]:
    counts = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    yield f"  {title}"
    for value, count in counts[:limit]:
        yield f"  {count:>6}  {value}"
    if len(counts) > limit:
        yield f"  {sum(count for _, count in counts[limit:]):>6}  ({len(counts) - limit:,} more)"


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.differences", description=__doc__)
    parser.add_argument("ours", type=Path, help="JSON from `heliograph export callgraph --format jcg`")
    parser.add_argument(
        "theirs", type=Path, help="folder with Tai-e's reachable-methods.txt and call-edges.txt"
    )
    parser.add_argument("--classpath", default="", help="the program's archives: to tell its native methods")
    parser.add_argument("--limit", type=int, default=25, help="rows a list (default: %(default)s)")
    options = parser.parse_args()
    ours, theirs = read_jcg(options.ours), read_peer(options.theirs)
    natives = natives_of(ours.methods ^ theirs.methods, options.classpath)
    for line in report(ours, theirs, natives, options.limit):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
