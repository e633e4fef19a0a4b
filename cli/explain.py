"""`heliograph explain`: why a reflective call has its targets, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cli.evidence import evidence
from cli.exits import usage
from cli.naming import Names
from cli.openings import Openings, sentence
from cli.phrases import Phrases
from cli.run import Run
from cli.text import short_name, shown
from cypher.program import APPLICATION
from cypher.schema import NONE
from engine import chains
from engine.flow import CAST, LOCAL, Fact, Step
from engine.gaps import Gap
from engine.narrowing import Narrowing
from engine.provenance import (
    ABSENT,
    REFUSED,
    TARGET,
    UNKNOWN,
    Answer,
    Inference,
    Premise,
    Provenance,
    Question,
)
from engine.reflection.sources import ARGUMENT, NATIVE
from engine.result import RESOLVED, ReflectiveSite, Result, Target

# Candidates that a message lists, calls that an answer does; how many questions are tried for each answer.
_LISTED, _CALLS, _TRIED = 12, 5, 8
STATUSES = {"resolved": "resolved", "partial": "partially resolved", "unresolved": "unresolved"}


class Place(NamedTuple):
    """An instruction, for people."""

    method: str
    file: str
    line: int
    offset: int

    def __str__(self) -> str:
        where = self.file
        if self.line >= 0:
            where += f":{self.line}"
        elif self.offset >= 0:
            where += f", offset {self.offset}"
        return f"{self.method.partition('(')[0]} ({where})" if self.method else "the JVM"


class PrintedStep(NamedTuple):
    """A line of an explanation.

    `obj` has arrived at `pointer` then (both -1 for a rule); `facts` are the rows of the run that say so.
    """

    kind: str
    place: Place
    text: str
    facts: tuple[Fact, ...]
    obj: int = NONE
    pointer: int = NONE
    heading: str = ""
    rule: str = ""
    paper: str = ""


class Part(NamedTuple):
    """The steps to one target, or to one operand that has none."""

    target: str
    kind: str  # type, method, field; or why there is no target, as in `Question`
    title: str
    steps: tuple[PrintedStep, ...]


class Explanation(NamedTuple):
    """What is known of one site; `omitted` targets are not among the parts.

    `causes` say why it is open (see `cli.openings`), `inputs` of which kinds the input is that comes to an open one.
    """

    site: str
    place: Place
    api: str
    status: str
    reason: str
    targets: int
    parts: tuple[Part, ...]
    omitted: int
    causes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Returns the explanation for programs."""
        head = {
            "site": self.site, "caller": self.place.method, "file": self.place.file, "line": self.place.line,
            "offset": self.place.offset, "api": self.api, "status": self.status, "reason": self.reason,
            "targets": self.targets, "omitted": self.omitted, "causes": list(self.causes), "inputs": list(self.inputs),
        }  # fmt: skip
        return head | {"answers": [_part_document(each) for each in self.parts]}

    def lines(self) -> Iterator[str]:
        """Yields the explanation for people."""
        status = STATUSES[self.status] + (f" ({self.reason})" if self.reason else "")
        count = f", {self.targets} target{'s' if self.targets != 1 else ''}"
        yield f"{self.place} calls {self.api}: {status}{count}"
        yield f"site {self.site}"
        if self.causes:
            yield f"open: {sentence(self.causes, self.inputs)}"
        for part in self.parts:
            yield ""
            yield part.title
            for number, step in enumerate(part.steps, 1):
                if step.heading:
                    yield f"     {step.heading}:"
                yield f"{number:4d}. {step.place}: {step.text}"
        if self.omitted:
            yield ""
            yield f"{self.omitted} more; --all shows them"


def _part_document(part: Part) -> dict[str, Any]:
    steps = [step_document(number, each) for number, each in enumerate(part.steps, 1)]
    return {"target": part.target, "kind": part.kind, "title": part.title, "steps": steps}


def step_document(number: int, each: PrintedStep) -> dict[str, Any]:
    """Returns a step for programs."""
    return {
            "number": number, "kind": each.kind, "method": each.place.method, "file": each.place.file,
            "line": each.place.line, "offset": each.place.offset, "text": each.text, "operand": each.heading,
            "rule": each.rule, "paper": each.paper, "object": each.obj, "pointer": each.pointer,
            "facts": [{"relation": fact.relation, "row": list(fact.row)} for fact in each.facts],
    }  # fmt: skip


def explain(run: Run, wanted: str, limit: int | None = 3) -> list[Explanation]:
    """Returns explanations of the sites that `wanted` names, with at most `limit` targets each.

    Without a limit, ways are sought for all targets at once: a site may have thousands.

    Raises `Failure` if it names none, or several that it doesn't name exactly.
    """
    found = find_sites(run.names, run.result, wanted)
    explainer, openings = Explainer(run, bulk=limit is None), Openings(run)
    return [
        explainer.site(each, limit)._replace(
            causes=openings.causes(each), inputs=explainer.inputs(each) if each.status != RESOLVED else ()
        )
        for each in found
    ]


# --- sites by name
def find_sites(names: Names, result: Result, wanted: str) -> list[ReflectiveSite]:
    """Returns the sites with that name (those of a line may be several), or the one whose name it is part of."""
    forms = [(each, _forms(names, result, each)) for each in result.reflective]
    exact = [each for each, own in forms if wanted in own]
    if exact:
        return exact
    ends = [
        each for each, own in forms if any(form.startswith(wanted) or form.endswith(wanted) for form in own)
    ]
    near = ends or [each for each, own in forms if any(wanted in form for form in own)]
    if len(near) == 1:
        return near
    if not near:
        text = f"there is no reflective call {shown(wanted)}; `heliograph sites --all` lists those there are"
        raise usage(text)
    listed = [_forms(names, result, each)[0] for each in near]
    more = f"\n  and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    text = "\n  ".join(shown(each) for each in listed[:_LISTED])
    raise usage(f"{shown(wanted)} may be one of\n  {text}{more}")


def _forms(names: Names, result: Result, site: ReflectiveSite) -> tuple[str, str, str]:
    """Returns the names of a site: `a.b.C.m(I)V@OFFSET`, `a.b.C.m@OFFSET`, `a.b.C.m:LINE`."""
    method, offset = int(result.sites.method[site.site]), int(result.sites.offset[site.site])
    name = names.method(method)
    line = names.line(method, offset)
    return f"{name}@{offset}", f"{name.qualified}@{offset}", f"{name.qualified}:{line}"


# --- explanations
class Explainer:
    """Puts the provenance of sites into words."""

    def __init__(self, run: Run, *, bulk: bool = False) -> None:
        self._names, self._result = names, result = run.names, run.result
        self.provenance = Provenance(evidence(run), result.reflective, result.derived, names, bulk=bulk)
        self._phrases = Phrases(names, self.provenance)
        self._apis = {each.site: each.api for each in result.reflective}
        self._places: dict[tuple[int, int], Place] = {}  # by method and offset

    def site(self, site: ReflectiveSite, limit: int | None) -> Explanation:
        """Returns the explanation of a site, with at most `limit` targets and as many operands without one."""
        questions = self.provenance.questions(site.site)
        aimed = sorted((each for each in questions if each.kind == TARGET), key=self._is_foreign)
        # A constant that names nothing matters if nothing else is known.
        others = [
            each
            for each in questions
            if each.kind not in ((TARGET, ABSENT) if aimed and limit else (TARGET,))
        ]
        parts = [self._part(site.site, each) for each in aimed[:limit]]
        told, looked_at = self._others(site.site, others, limit)
        return Explanation(
            _forms(self._names, self._result, site)[0], self._place_of(site.site), site.api, site.status,
            site.reason, len(site.targets), (*parts, *told), len(questions) - len(parts) - looked_at,
        )  # fmt: skip

    def inputs(self, site: ReflectiveSite) -> tuple[str, ...]:
        """Returns of which kinds the input is that comes to a call, out of the table of sources."""
        begun = self.ways(self.provenance.arriving(site.site, limit=0)[0])  # (no constant is input)
        kinds = {self.origin(premise)[0] for premise, _ in begun}
        return tuple(sorted(kinds - {"constant", "unknown"}))

    def _is_foreign(self, question: Question) -> bool:
        """Returns whether a target is not of the application."""
        target = question.target
        if target is None:
            return True
        if target.kind == "type":
            return not self._names.type_flags(target.id) & APPLICATION
        if target.kind == "method":
            return not self._names.method(target.id).flags & APPLICATION
        return False

    def _others(self, site: int, questions: Sequence[Question], limit: int | None) -> tuple[list[Part], int]:
        """Returns up to `limit` parts that tell different stories, and how many questions they answer."""
        found: dict[tuple[object, ...], Part] = {}
        for number, question in enumerate(questions):
            if limit is not None and (len(found) == limit or number == _TRIED * limit):
                return list(found.values()), number
            part = self._part(site, question)
            found.setdefault((part.title, part.steps[0].place if part.steps else None), part)
        return list(found.values()), len(questions)

    def _part(self, site: int, question: Question) -> Part:
        answer = self.provenance.answer(site, question)
        if question.target is not None:
            name = self._target(question.target)
            steps = tuple(self._target_steps(answer))
            return Part(name, question.target.kind, f"{name}, because" if steps else name, steps)
        if answer.premise is None:
            steps = tuple(self._gap(each) for each in answer.gaps)
            return Part(
                "", question.kind, f"nothing arrives as the {question.operand}{':' if steps else ''}", steps
            )
        return Part(
            "", question.kind, self._title(question, answer.premise), tuple(self._premise(answer.premise))
        )

    def _title(self, question: Question, premise: Premise) -> str:
        subject = self._phrases.origin(premise.chain.origin, premise.chain.obj)
        if question.kind == UNKNOWN:
            return f"{self._phrases.unknown(premise)}:"
        if question.kind == ABSENT:
            return f"the {question.operand} may be {subject}, which names nothing there is:"
        if question.kind == REFUSED:
            refused = self._target(self.provenance.target_of(question.obj))
            return f"the {question.operand} may be {refused}, with which this call can do nothing:"
        alike = f" and {question.alike} more" if question.alike else ""
        return (
            f"the {question.operand} may be {subject}{alike}, but calls in the JDK's code are resolved only with what "
            "comes from the same method or from outside the JDK:"
        )

    def _gap(self, gap: Gap) -> PrintedStep:
        return PrintedStep(gap.kind, self._place(gap.method, gap.offset), self._phrases.gap(gap), ())

    def _target(self, target: Target) -> str:
        if target.kind == "type":
            return shown(self._names.type(target.id))
        if target.kind == "method":
            return shown(str(self._names.method(target.id)))
        return shown(self._names.field(target.id))

    # --- ways
    def ways(self, premises: Sequence[Premise]) -> Iterator[tuple[Premise, list[PrintedStep]]]:
        """Yields one way from each beginning of what is at operands, with the premise that begins there."""
        pending: list[tuple[Premise, list[PrintedStep]]] = [(each, []) for each in premises[::-1]]
        seen: set[tuple[str, int, Fact]] = set()
        while pending:
            premise, after = pending.pop()
            origin = premise.chain.origin
            key = (origin.kind, origin.pointer, origin.facts[0])
            if key in seen:
                continue
            seen.add(key)
            if origin.kind == chains.NAME_OF:  # a known text begins there, whatever has it as its name
                yield premise, [*self._premise(premise), *after]
                continue
            because = premise.because
            made = self._inferred(because._replace(premises=())) if because is not None else ()
            steps = [*self._behind(list(made), premise), *after]
            below = (*(because.premises if because else ()), *premise.parts)
            pending += [(each, steps) for each in below[::-1]]
            if not below:
                yield premise, steps

    def origin(self, premise: Premise) -> tuple[str, str, str]:
        """Returns (kind, text, key) of where a way begins: a constant, input of some kind, or something unknown."""
        origin = premise.chain.origin
        text = self._phrases.origin(origin, premise.chain.obj).rstrip(",")
        if origin.kind in (chains.CONSTANT, chains.NAME_OF):
            return "constant", self._names.constant(origin.text), ""
        if origin.kind == chains.ENTRY:
            return ARGUMENT, text, ""
        if origin.kind == chains.NATIVE:
            return NATIVE, text, ""
        source = self.provenance.source_of(origin.callee) if origin.kind == chains.SOURCE else None
        if source is None:
            return "unknown", text, ""
        return source.kind, text, self.provenance.key_of(origin.site, source) or ""

    # --- steps
    def _target_steps(self, answer: Answer) -> Iterator[PrintedStep]:
        """Yields the steps to a target, and the calls that follow."""
        if answer.inference is None or answer.question.target is None:
            return
        *steps, last = self._inferred(answer.inference)
        yield from steps
        target = answer.question.target.id if answer.question.target.kind == "method" else NONE
        own = [call for call in answer.calls if call[1] == target]
        others = list({callee: (site, callee) for site, callee in answer.calls if callee != target}.values())
        yield last._replace(facts=(*last.facts, *(Fact("Calls", call) for call in own)))
        for site, callee in others[:_CALLS]:
            more = f" (and {len(others) - _CALLS} more methods)" if len(others) > _CALLS else ""
            text = f"so it runs {shown(str(self._names.method(callee)))}{more}"
            yield PrintedStep("call", self._place_of(site), text, (Fact("Calls", (site, callee)),))

    def _inferred(self, inference: Inference) -> Iterator[PrintedStep]:
        """Yields the steps to each operand of a reflective call, then what its rule says."""
        several = len(inference.premises) > 1
        for premise in inference.premises:
            yield from self._premise(premise, f"the {premise.operand}" if several else "")
        if inference.narrowing is not None:
            yield self._cast(inference.narrowing)
        derived = inference.derived
        text = self._phrases.inference(inference, self._apis[derived.site])
        yield PrintedStep(
            "rule", self._place_of(derived.site), f"{text} [{derived.rule}: {_short(derived.paper)}]",
            (Fact(derived.relation, (derived.site, derived.detail)),), rule=derived.rule, paper=derived.paper,
        )  # fmt: skip

    def _cast(self, narrowing: Narrowing) -> PrintedStep:
        """Returns the step in which something is made of what is unknown, and cast."""
        site = narrowing.uses[-1].site
        text = self._phrases.cast(narrowing.types, self._apis[site])
        facts = tuple(Fact("ResultCast", (site, type_)) for type_ in narrowing.types)
        return PrintedStep("result-cast", self._place_of(site), text, facts)

    def cast_document(self, narrowing: Narrowing) -> dict[str, Any]:
        """Returns the call that makes what is cast, and the types to which it is, for programs."""
        site = narrowing.uses[-1].site
        place = self._place_of(site)
        return {
            "method": place.method, "line": place.line, "offset": place.offset, "api": self._apis[site],
            "types": [shown(self._names.type(each)) for each in narrowing.types],
        }  # fmt: skip

    def _premise(self, premise: Premise, heading: str = "") -> Iterator[PrintedStep]:
        """Yields the steps by which an operand gets its object, what explains the object's origin first."""
        steps: list[PrintedStep] = []
        if premise.because is not None:
            steps += self._inferred(premise.because)
        for part in premise.parts:
            steps += self._premise(part)
        steps = self._behind(steps, premise)
        if steps and heading:
            steps[0] = steps[0]._replace(heading=heading)
        yield from steps

    def _behind(self, before: list[PrintedStep], premise: Premise) -> list[PrintedStep]:
        """Returns steps and those of a chain behind them; what a rule made is where it is wanted without a further one."""
        steps = self.chain(premise)
        if before and steps[0].kind == chains.RULE:
            (here,) = steps
            rule = before[-1]
            return [
                *before[:-1],
                rule._replace(facts=(*rule.facts, *here.facts), obj=here.obj, pointer=here.pointer),
            ]
        return before + steps

    def chain(self, premise: Premise) -> list[PrintedStep]:
        """Returns a chain's steps; those within a method belong to the next that is of interest, or else to the last."""
        chain = premise.chain
        subject = self._subject(premise)
        facts, casts = list(chain.origin.facts), [""]
        found: list[PrintedStep] = []
        told = False
        for step in chain.steps:
            facts += step.facts
            if step.kind in LOCAL:
                casts = [f"{self._phrases.step(step)} and "] if step.kind == CAST else casts
                continue
            at = self._place(step.method, step.offset)
            if not told and self._elsewhere(chain.origin, step):
                found.append(
                    self._origin_step(chain, chain.origin, subject, chain.origin.facts, chain.origin.pointer)
                )
                facts = facts[len(chain.origin.facts) :]
                subject = "it"
            text = f"{casts[0]}{self._phrases.step(step)}"
            text = f"{subject} is {text}" if not told and subject != "it" else text
            found.append(PrintedStep(step.kind, at, text, tuple(facts), chain.obj, step.target))
            facts, casts, told = [], [""], True
        end = chain.steps[-1].target if chain.steps else chain.origin.pointer
        if told:
            found[-1] = found[-1]._replace(facts=(*found[-1].facts, *facts), pointer=end)
        else:
            text = f"{subject} is {_role(premise.operand)}"
            # What the JVM provides is nowhere, but what is done with it is somewhere.
            nowhere = chain.origin.method == NONE and chain.steps
            place = chain.steps[0] if nowhere else chain.origin
            found.append(self._origin_step(chain, place, text, facts, end))
        return found

    def _subject(self, premise: Premise) -> str:
        """Returns what a chain's steps begin with."""
        origin = premise.chain.origin
        named = self._phrases.origin(origin, premise.chain.obj)
        if origin.kind != chains.RULE:
            return named
        if premise.because is not None:
            return named
        callee = int(self._result.sites.callee[origin.site])
        if origin.relation != "ClassObject" or callee < 0:
            return f"{named} returned here"
        called = shown(short_name(self._names.method(callee).qualified))
        return f"the class object of {self._phrases.type_of(premise.chain.obj)} that {called} returns"

    def _elsewhere(self, origin: chains.Origin, step: Step) -> bool:
        """Returns whether the origin is not where the first step is, so that it gets a line of its own."""
        if origin.kind == chains.RULE or origin.method == NONE:
            return False
        here, there = self._place(origin.method, origin.offset), self._place(step.method, step.offset)
        return (here.method, here.line) != (there.method, there.line)

    def _origin_step(
        self, chain: chains.Chain, place: chains.Origin | Step, text: str, facts: Sequence[Fact], pointer: int
    ) -> PrintedStep:
        at = self._place(place.method, place.offset)
        return PrintedStep(chain.origin.kind, at, text, tuple(facts), chain.obj, pointer)

    # --- places
    def _place_of(self, site: int) -> Place:
        sites = self._result.sites
        return self._place(int(sites.method[site]), int(sites.offset[site]))

    def _place(self, method: int, offset: int) -> Place:
        if method < 0:
            return Place("", "", NONE, NONE)
        found = self._places.get((method, offset))
        if found is None:
            name = self._names.method(method)
            line = self._names.line(method, offset)
            found = self._places[method, offset] = Place(
                shown(str(name)), _file_of(name.declaring), line, offset
            )
        return found


def _role(operand: str) -> str:
    return "a part of the string" if operand == "part" else f"the {operand}"


def _file_of(internal: str) -> str:
    """Returns the usual source file of a class: that of its outermost class."""
    return shown(internal.rpartition("/")[2].split("$")[0] or internal) + ".java"


def _short(paper: str) -> str:
    """Returns the authors and the year of a citation.

    >>> _short("Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005")
    'Livshits, Whaley, Lam 2005'
    """
    authors, _, rest = paper.partition(". ")
    year = rest.rpartition(" ")[2]
    return f"{authors} {year}" if year.isdigit() else paper
