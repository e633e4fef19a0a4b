"""Were the JVM modelled differently, a fixture would show it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine import models
from tests.engine import model_mutation
from tests.mutants import sampled

# One mutant of `engine.models` in so many is tried, on the fixtures of its topic;
# `python -m tests.engine.model_mutation --part 25` tries all rows of all tables and one in so many of the changes
# of functions, and what the topic's don't notice on all fixtures; it takes most of an hour.
ROWS, CHANGES = 9, 50

# Rows of the tables of `engine.models` that the fixtures of the topic don't notice the lack of.
ROWS_NOT_SHOWN = {
    # Not in the JDK that most fixtures need: of JDK 8, of JDK 19 and later, and of Windows.
    "BODY_MODELS: without com/sun/security/auth/module/NTSystem.getCurrent",
    "BODY_MODELS: without java/util/ServiceLoader$LazyIterator.nextService",
    "BODY_MODELS: without java/lang/Thread.currentCarrierThread",
    # What one `Optional` has, any has.
    "BODY_MODELS: without java/lang/ProcessHandleImpl$Info.info0",
    # The body says the same.
    # The rules supply what calls of these return; a body counts where the JDK's own code calls them.
    "BODY_MODELS: without java/lang/Object.clone",
    "BODY_MODELS: without java/lang/Object.getClass",
    "BODY_MODELS: without java/lang/Class.forName0",
    "BODY_MODELS: without java/lang/Class.getDeclaredConstructors0",
    "BODY_MODELS: without java/lang/Class.getDeclaredMethods0",
    "BODY_MODELS: without java/lang/Class.getDeclaredFields0",
    # An unknown class or member more or less: it decides what a site is reported as.
    "BODY_MODELS: without java/lang/ClassLoader.findBootstrapClass",
    "BODY_MODELS: without java/lang/ClassLoader.findLoadedClass0",
    "SITE_MODELS: without java/lang/invoke/InnerClassLambdaMetafactory.spinInnerClass",
    "METAOBJECTS: without java/lang/Class",
    "METAOBJECTS: without java/lang/reflect/Method",
    "METAOBJECTS: without java/lang/reflect/Constructor",
    "METAOBJECTS: without java/lang/reflect/Field",
    # Only what the JDK calls of itself: no method of a program is called from there.
    "BODY_MODELS: without java/lang/invoke/VarHandle.<init>",
    "BODY_MODELS: without java/lang/invoke/VarForm.<init>",
    "BODY_MODELS: without java/lang/invoke/BoundMethodHandle$SpeciesData.<init>",
    "BODY_MODELS: without jdk/internal/perf/Perf.createLong",
    "BODY_MODELS: without jdk/internal/perf/Perf.attach",
    # No fixture: what they make and tell is shown by tests/cli/test_native_objects.py and tests/cli/test_agents.py.
    "BODY_MODELS: without sun/instrument/InstrumentationImpl.addTransformer",
    "BODY_MODELS: without com/sun/management/internal/GarbageCollectorExtImpl.setNotificationEnabled",
    "BODY_MODELS: without sun/management/MemoryPoolImpl.setPoolUsageSensor",
    "BODY_MODELS: without sun/management/MemoryPoolImpl.setPoolCollectionSensor",
    "BODY_MODELS: without java/net/Inet4AddressImpl.lookupAllHostAddr",
    "BODY_MODELS: without java/net/Inet6AddressImpl.lookupAllHostAddr",
    "BODY_MODELS: without java/net/NetworkInterface.getAll",
    "BODY_MODELS: without java/net/NetworkInterface.getByName0",
    "BODY_MODELS: without java/net/NetworkInterface.getByIndex0",
    "BODY_MODELS: without java/net/NetworkInterface.getByInetAddress0",
    "BODY_MODELS: without sun/nio/ch/Net.localInetAddress",
    "BODY_MODELS: without sun/nio/ch/Net.remoteInetAddress",
    "BODY_MODELS: without sun/nio/ch/Net.accept",
    "BODY_MODELS: without sun/management/MemoryImpl.getMemoryPools0",
    "BODY_MODELS: without sun/management/MemoryManagerImpl.getMemoryPools0",
    "BODY_MODELS: without sun/management/MemoryImpl.getMemoryManagers0",
    "BODY_MODELS: without sun/management/MemoryPoolImpl.getMemoryManagers0",
}

# Changes of functions, of one in 25, that the fixtures of the topic don't notice.
CHANGES_NOT_SHOWN = {
    # Ids and variables of this number are something else, and all classes and methods that are named are there.
    "entry_object: type_ >= 0 → type_ >= -1",
    "_link: type_ >= 0 → type_ > 0",
    "Effects._wrapped: call.thrown < 0 → call.thrown <= 0",
    "Effects._invoke: result < 0 <= call.result → result < 1 <= call.result",
    "Effects._access: row.field >= 0 → row.field >= 1",
    "HandleEffects.enter_made: pointer < 0 → pointer <= 0",
    "HandleEffects._access: invocation.result >= 0 → invocation.result >= 1",
    "HandleEffects._arguments: invocation.anything < 0 → invocation.anything < 1",
    "HandleEffects._call: invocation.result >= 0 → invocation.result > 0",
    "HandleEffects._iterate: method >= 0 → method > 0",
    "HandleEffects._assign: source >= 0 <= target → source >= 0 < target",
    "HandleEffects._direct: DIRECT_HANDLE if self._program.type_named(DIRECT_HANDLE) >= 0 else api.HANDLE → DIRECT_HANDLE",
    "Serialization._construct_record: constructor < 0 → constructor <= 0",
    "Serialization._fields: of_type >= 0 → of_type >= -1",
    "LibraryEffects._make_proxy: call.result < 0 → call.result < -1",
    # Where in a method something happens is evidence.
    "_run_thread: constraints.add(schema.Assign, body.method, 0, body.first, constraints.pool(RUNNING_THREADS)) → constraints.add(schema.Assign, body.method, 1, body.first, constraints.pool(RUNNING_THREADS))",
    "_get_element: constraints.add(schema.ArrayLoad, body.method, 0, body.first, body.returned) → constraints.add(schema.ArrayLoad, body.method, 1, body.first, body.returned)",
    "LibraryEffects._return_value: constraints.add(schema.ArrayStore, body.method, 0, target, NONE, body.returned) → constraints.add(schema.ArrayStore, body.method, -1, target, NONE, body.returned)",
    # What isn't there is looked at again where it is used, and what was done is done again.
    "_return_lookup_class: if call.result >= 0 and call.argument(0) >= 0: → if True:",
    "HandleEffects.enter_made: if pointer < 0: → if False:",
    "HandleEffects._arguments: pointer >= 0 → pointer >= -1",
    "HandleEffects._filled_object: if name not in self._filled: → if True:",
    "LibraryEffects._return_value: target != body.returned and program.type_named(returned) >= 0 → program.type_named(returned) >= 0",
    # Primitive values have no objects.
    "HandleEffects._access_memory: if descriptor[0] not in 'L[': → if False:",
    "LibraryEffects._return_value: body.parameters != 1 or returned[0] not in 'L[' → body.parameters != 1",
    # A call that names no method has no result on a JVM either: it throws.
    "Models.on_sites: invoke.callee == self._get_class → invoke.callee <= self._get_class",
    # A call of no method leads nowhere.
    "Serialization._restore_lambda: if again >= 0: → if True:",
    # Not in the JDK that most fixtures need: of JDK 25, where InstanceMain shows it.
    "run_mains: if constructor >= 0: → if False:",
    # Only what the JDK calls of itself, or whose objects it has elsewhere as well.
    "_return_new: if type_ >= 0: → if False:",
    "_return_array: if array >= 0 <= type_: → if False:",
    "start_machine: without call_named(constraints, LAUNCHER, 'getApplicationClass', [])",
    "_start_threads: without call_named(constraints, THREAD, '<init>', [(1, group), (2, name)], f'(L{GROUP};L{STRING};)V', thread)",
    "_load_classes: type_ >= 0 → type_ < 0",
    "_load_classes: (1, name) → (2, name)",
    "_load_classes: (1, classes) → (0, classes)",
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs javac on the path")
def test_changed_model_is_noticed(tmp_path: Path) -> None:
    tried: list[model_mutation.Mutant] = [
        *(each for each in model_mutation.rows() if each.module is models and sampled(each.name, ROWS)),
        *(each for each in model_mutation.changes() if each.module is models and sampled(each.name, CHANGES)),
    ]
    unnoticed = {each.name for each in model_mutation.unnoticed(tried, model_mutation.compiled(tmp_path))}
    assert unnoticed < {each.name for each in tried}
    assert unnoticed == {each.name for each in tried} & (ROWS_NOT_SHOWN | CHANGES_NOT_SHOWN)


def test_what_is_not_shown_is_a_mutant() -> None:
    assert {each.name for each in model_mutation.rows()} >= ROWS_NOT_SHOWN
    assert {each.name for each in model_mutation.changes()} >= CHANGES_NOT_SHOWN
