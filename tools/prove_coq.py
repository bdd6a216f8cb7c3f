"""Check the proofs that Gappa finds by Coq's kernel: `tools/prove.py --coq`.

Gappa writes the rewritings of a script as a `Hypothesis`; here each is a lemma, proven by `hint`
(prove_coq.v). A script with assumptions has a file SCRIPT.v beside it, which is appended to Gappa's
proof. It ends with `Theorem assumed : ... -> hypotheses.`, where `hypotheses` is everything before
the script's arrow. So the assumptions about exp, ln and the like are proven of the script's own
formulas.

It needs Debian's coq, libcoq-gappa, libcoq-interval and libcoq-coquelicot.
"""

import re
import resource
import subprocess
import tempfile
from pathlib import Path

SECONDS = 600  # CPU seconds, so that a busy machine is no failure
TACTICS = Path(__file__).with_suffix(".v")

# A proof may use these axioms: the reals, classical logic, and the machine's integers that Interval
# computes with, in Coq's kernel.
AXIOMS = re.compile(
    r"ClassicalDedekindReals\.sig_(not_dec|forall_dec)|(Classical_Prop\.)?classic"
    r"|FunctionalExtensionality\.functional_extensionality_dep"
    r"|(Uint63|PrimInt63)\.\w+"
)


# Controls, which Gappa believes: a wrong rewriting, and a false assumption.
WRONG = [
    (
        "bounds/log_sums.gappa",
        "(down120(mantissa) - mantissa) + (mantissa - Log)",
        "(mantissa - Log)",
    ),
    ("isochronous/lane_staircase.gappa", "log2e - l in [0, 1b-30]", "log2e - l in [0, 1b-31]"),
]


def is_slow(script: Path) -> bool:
    """Return whether the gate leaves a script out."""
    return bool(re.search(r"^# coq: slow$", script.read_text(), re.MULTILINE))


def assumes(script: Path) -> bool:
    return "\n# Assumed" in script.read_text()


def coq_text(generated: str, companion: str | None) -> str:
    """Return a file for Coq, of Gappa's output and a script's companion."""
    text = re.sub(
        r"^Hypothesis (a\d+) : (.*)\.$", r"Lemma \1 : \2.\nProof. hint. Qed.", generated, flags=re.M
    )
    if companion is not None:
        said = text.partition("\nDefinition s1 := ")[0]
        opened = ", ".join(["hypotheses", *re.findall(r"^Definition ([sif]\d+) :=", said, re.M)])
        parts = re.search(r"^Definition s1 := \((\w+) /\\ ", text, re.MULTILINE)
        end = "End Generated_by_Gappa."
        text = text.replace(
            end,
            f"Definition hypotheses := {parts[1] if parts else 's1'}.\n"
            f"Ltac unfolded := unfold {opened}; repeat split; bounds.\n"
            "Ltac opened := unfolded; try lra.\n"
            f"{companion}\n{end}\nPrint Assumptions assumed.",
        )
    return f"{TACTICS.read_text()}\n{text}\nPrint Assumptions l1.\n"


def strange_axioms(output: str) -> list[str]:
    """Return the axioms that `Print Assumptions` printed and AXIOMS lacks."""
    named = re.findall(r"^(\S+) :", output, re.MULTILINE)
    return sorted({name for name in named if not AXIOMS.fullmatch(name)})


def faults(script: Path, filled_in: str) -> list[str]:
    """Return the faults of a script's proof; none if Coq accepts all of it."""
    companion = script.with_suffix(".v")
    if assumes(script) != companion.exists():
        return [f"{companion.name} is {'missing' if assumes(script) else 'of no use'}"]
    said = companion.read_text() if companion.exists() else None
    if said is not None and not re.search(
        r"^Theorem assumed .*->\s+hypotheses\.$", said, re.M | re.S
    ):
        return [f"{companion.name} proves not what is assumed"]
    gappa = ["gappa", "-Eno-auto-dichotomy", "-Bcoq"]
    made = subprocess.run(gappa, input=filled_in, capture_output=True, text=True, check=False)
    text = coq_text(made.stdout, said)
    unproven = re.findall(r"\b(?:Hypothesis|Axiom|Parameter|Admitted|admit|Abort)\b.*", text)
    if unproven:
        return [f"not proven: {line}" for line in unproven]
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / f"{script.stem}.v"
        file.write_text(text)
        done = subprocess.run(
            ["coqc", "-q", file],
            cwd=work,
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
            check=False,
        )
    if done.returncode != 0:
        return [f"Coq: {(done.stdout + done.stderr).strip()[-500:]}"]
    return [f"it stands on {name}" for name in strange_axioms(done.stdout)]
