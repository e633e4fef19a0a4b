"""Groups of arrays, as compiled code takes them: by the address of a table.

numba hands on a named tuple of arrays as seven numbers for each array, at every call between compiled functions. Here a
group is one number; what is asked of it is loaded from its table (`engine.kernel.table`), which never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import populate_array

WORD = 8  # the bytes of a number of a table


class Group(types.Type):  # type: ignore[misc]
    """The type of a named tuple: `members` has, by name, where an array or group begins in the table, and its type."""

    def __init__(self, name: str, members: dict[str, tuple[int, Any]], size: int) -> None:
        super().__init__(name)
        self.members = members
        self.size = size

    @property
    def key(self) -> tuple[Any, ...]:
        return self.name, *self.members.items()


def group_type(group: tuple[Any, ...]) -> Group:
    """Returns the type of a named tuple."""
    members: dict[str, tuple[int, Any]] = {}
    at = 0
    for name, each in zip(group._fields, group, strict=True):  # type: ignore[attr-defined]
        if isinstance(each, tuple):
            members[name] = at, group_type(each)
            at += members[name][1].size
        else:
            members[name] = at, typeof(each)
            at += 1 + each.ndim
    return Group(type(group).__name__, members, at)


def group_at(prototype: Callable[[], tuple[Any, ...]]) -> Any:
    """Returns the compiled function from a table to the group that it is of, which is like that of `prototype`."""

    @intrinsic
    def at(_typing: object, table: Any) -> tuple[Any, Any]:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.bitcast(array.data, cgutils.voidptr_t)

        return group_type(prototype())(table), generate

    return at


@register_model(Group)
class _Model(models.OpaqueModel):  # type: ignore[misc]
    """An address."""


@infer_getattr
class _Members(AttributeTemplate):  # type: ignore[misc]
    key = Group

    def generic_resolve(self, group: Group, name: str) -> Any:
        return group.members[name][1] if name in group.members else None


@lower_getattr_generic(Group)
def _member(context: Any, builder: Any, group: Group, value: Any, name: str) -> Any:
    """Returns an array of a group, or a group in it."""
    at, kind = group.members[name]
    place = builder.gep(value, [ir.Constant(ir.IntType(64), WORD * at)])
    if isinstance(kind, Group):
        return place
    array = context.make_array(kind)(context, builder)
    number = context.get_value_type(types.intp)

    def load(index: int, wanted: Any) -> Any:
        start = builder.gep(place, [ir.Constant(ir.IntType(64), WORD * index)])
        loaded = builder.load(builder.bitcast(start, wanted.as_pointer()))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = [load(1 + axis, number) for axis in range(kind.ndim)]
    strides = [number(itemsize)]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    data = load(0, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data, shape, strides, itemsize, meminfo=None)
    return array._getvalue()
