"""`heliograph spec`: the points of a program of which a user has to say what enters there, as a file to fill in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cli.casts import CAUSES
from cli.explain import Place
from cli.export.inputs import Input, Inputs
from cli.openings import Openings
from cli.run import Run
from cli.specification import NOTHING, Point
from cli.summary import application_sites
from cli.text import short_name
from engine.reflection import api, sources
from engine.result import ReflectiveSite

_HEADER = f"""\
# What names enter this program? Fill in the lines below and give this file to `heliograph analyze --spec`.
#
#   loadImpl() @ 43 InetAddress.java:1231 => java.net.Inet4AddressImpl
#
# says what may come to the reflective call, or out of the other call, at that place; several lines list several names,
# and `{NOTHING}` says that there is none. At a call that acts on a method or field, write a.b.C.name; at one that asks
# for a member, that or its name alone. It is enough to fill in either where a name enters or the call that it reaches.
# Lines that are no comments were found by casts of what is made of a class: strike out what can't be.
"""
# Input and candidates that are listed for a call.
_NEAREST, _MOST = 12, 20
_CAST = (api.FOR_NAME, api.CLASS_NEW, api.CONSTRUCTOR_NEW)  # where casts suggest classes
# What is specified at a call, by its role.
_WANTED = {
    api.FOR_NAME: "the name of a class",
    api.GET_MEMBER: "the name of a member",
    api.LIST_MEMBERS: "a class",
    api.CLASS_NEW: "a class",
    api.CONSTRUCTOR_NEW: "a class",
    api.INVOKE: "a method",
    api.FIELD_GET: "a field",
    api.FIELD_SET: "a field",
    api.FIND_HANDLE: "the name of a member",
    api.UNREFLECT: "a member",
    api.CALL_HANDLE: "a method or field",
}


class Need(NamedTuple):
    """A reflective call that is open for want of something that enters the program, at `place`.

    `inputs` is what may come to it, `candidates` are names that casts suggest, `cause` is why casts don't tell;
    `subject` says whether an unknown class or member comes to it, beside unknown names or not.
    """

    site: ReflectiveSite
    place: Place
    inputs: tuple[Input, ...]
    candidates: tuple[str, ...]
    cause: str
    subject: bool


def needs(run: Run, everything: bool) -> Iterator[Need]:
    """Yields the calls on which open ones of the application, or of all code, depend, and that depend on no others."""
    inputs, openings = Inputs(run), Openings(run)
    wanted = openings.first(run.result.reflective if everything else application_sites(run.result, run.names))
    reached = {each.site.site: each.inputs for each in inputs.reaching(wanted)}
    for site in wanted:
        yield Need(
            site, inputs.origins.place_of(site.site), reached.get(site.site, ()),
            tuple(openings.casts.candidates(site)) if site.role in _CAST else (),
            openings.casts.cause(site), openings.is_at(site, "subject"),
        )  # fmt: skip


def lines(run: Run, everything: bool) -> Iterator[str]:
    """Yields the lines of the file."""
    yield _HEADER
    for need in needs(run, everything):
        yield "\n"
        name = short_name(need.site.api)
        because = f" ({CAUSES[need.cause]})" if need.cause else ""
        wanted = _wanted(need)
        yield f"# {need.place.method.partition('(')[0]} calls {name}: {wanted} is needed{because}.\n"
        for each in need.inputs[:_NEAREST]:
            source = each.way[0]
            yield f"# From {each.kind}: {source.text}, in {source.place}\n"
            if each.kind not in (sources.ARGUMENT, sources.NATIVE):
                yield f"# {point_of(source.place)} =>\n"
        if len(need.inputs) > _NEAREST:
            yield f"# … and {len(need.inputs) - _NEAREST:,} more sources of names, further away\n"
        here = point_of(need.place)
        for candidate in need.candidates[:_MOST]:
            yield f"{here} => {candidate}\n"
        if len(need.candidates) > _MOST:
            yield f"# … and {len(need.candidates) - _MOST:,} more classes\n"
        yield f"# {here} =>\n"


def _wanted(need: Need) -> str:
    if need.site.role in api.FINDING and need.subject:
        return "a class" if need.site.api.endswith("Constructor") else "a member a.b.C.name"
    if need.site.role == api.UNREFLECT and need.site.api.endswith("Constructor"):
        return "a class"
    return _WANTED[need.site.role]


def point_of(place: Place) -> Point:
    """Returns a place as a point of the specification."""
    method = place.method.partition("(")[0].rpartition(".")[2]
    return Point(method, place.offset, place.file, place.line)
