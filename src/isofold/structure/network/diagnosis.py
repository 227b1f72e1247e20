"""What a located network has to say about itself, as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from isofold._findings import Diagnosis, Finding, Severity
from isofold._typing import BoolArray, FloatArray
from isofold.structure.network.data import SensorNetwork, pairs_without_range
from isofold.structure.network.parts import MISFIT, Located, Parts

__all__ = ["NetworkFindings", "NetworkRules", "diagnose_network"]


@dataclass(frozen=True)
class NetworkRules:
    """Limits of findings.

    Attributes
    ----------
    loose : float
        Standard error, in radii, from which on a node is held loosely.
    moved : float
        Distance to the mirrored position, in radii, from which on a node is ambiguous.
    misfit : float
        Standard deviations of the noise from which on a range does not fit.
    missing : float
        Distance, in radii, below which a pair should have had a range.
    many : float
        Fraction of such pairs among all near ones from which on the radius is in doubt.
    """

    loose: float = 0.25
    moved: float = 0.3
    misfit: float = MISFIT
    missing: float = 0.7
    many: float = 0.02


@dataclass(frozen=True, eq=False)
class NetworkFindings:
    """The findings, and which nodes could be elsewhere."""

    diagnosis: Diagnosis
    is_ambiguous: BoolArray


def diagnose_network(
    network: SensorNetwork, parts: Parts, located: Located, rules: NetworkRules
) -> NetworkFindings:
    """Return all findings about a network."""
    scale = network.radius or float(network.ranges.max(initial=0.0))
    mirrored = _mirrored_nodes(network, located, rules.moved * scale)
    is_free = np.ones(network.n_nodes, dtype=bool)
    is_free[network.anchors.points] = False
    loose = is_free & (located.errors > rules.loose * scale)
    is_held = parts.is_located[parts.labels] | (not len(network.anchors))
    errors = _errors(network, located.coordinates)
    noise = located.noise
    findings = (
        *_find_frame(network, parts),
        *_find_few_ranges(network, parts, is_free),
        *_find_mirrored(located, mirrored),
        *_find_loose(located, loose & is_held, rules.loose * scale),
        *_find_misfit(network, errors, noise, rules),
        *_find_wrong_radius(network, located.coordinates, noise, rules),
    )
    is_ambiguous = is_free & (mirrored | loose | ~is_held)
    return NetworkFindings(Diagnosis(findings), is_ambiguous)


def _mirrored_nodes(network: SensorNetwork, located: Located, least: float) -> BoolArray:
    """Return the nodes that are elsewhere if their flap is mirrored."""
    found = np.zeros(network.n_nodes, dtype=bool)
    for flap in located.flaps:
        moved = np.linalg.norm(flap.mirrored - located.coordinates[flap.nodes], axis=1)
        found[flap.nodes[moved > least]] = True
    return found


def _errors(network: SensorNetwork, Y: FloatArray) -> FloatArray:
    """Return the relative errors of the ranges."""
    first, second = network.pairs.T
    lengths = np.linalg.norm(Y[first] - Y[second], axis=1)
    typical = float(np.median(network.ranges)) if len(network.ranges) else 0.0
    least = 0.2 * typical or 1.0
    return np.asarray((lengths - network.ranges) / np.maximum(network.ranges, least))


def _find_frame(network: SensorNetwork, parts: Parts) -> Iterator[Finding]:
    """Find parts whose anchors do not hold them."""
    d = parts.n_components
    if not len(network.anchors):
        form = "parts" if len(parts) > 1 else ""
        severity = Severity.DOUBT if len(parts) > 1 else Severity.NOTE
        yield Finding.of("no_anchors", severity, form=form, value=len(parts), kind=_mirror(d))
        return
    short = parts.n_anchors <= d
    if short.any():
        samples = np.flatnonzero(short[parts.labels])
        yield Finding.of(
            "not_located",
            Severity.DOUBT,
            value=len(samples),
            samples=samples,
            n=len(samples),
            n_parts=int(short.sum()),
            least=d + 1,
        )
    if parts.is_flat.any():
        samples = np.flatnonzero(parts.is_flat[parts.labels])
        yield Finding.of(
            "flat_anchors",
            Severity.DOUBT,
            value=len(samples),
            samples=samples,
            n=len(samples),
            kind=_mirror(d),
        )


def _mirror(n_components: int) -> str:
    return "line" if n_components == 2 else "plane"


def _find_few_ranges(network: SensorNetwork, parts: Parts, is_free: BoolArray) -> Iterator[Finding]:
    """Find nodes that have several positions by their own ranges."""
    least = parts.n_components + 1
    few = np.flatnonzero(is_free & (network.degrees < least))
    if len(few):
        yield Finding.of("few_ranges", value=len(few), samples=few, n=len(few), least=least)


def _find_mirrored(located: Located, mirrored: BoolArray) -> Iterator[Finding]:
    """Find flaps that are almost as good mirrored."""
    nodes = np.flatnonzero(mirrored)
    if len(nodes):
        yield Finding.of(
            "flaps",
            Severity.DOUBT,
            value=len(nodes),
            samples=nodes,
            n=len(nodes),
            n_flaps=len(located.flaps),
        )


def _find_loose(located: Located, loose: BoolArray, limit: float) -> Iterator[Finding]:
    """Find nodes that are held loosely."""
    nodes = np.flatnonzero(loose)
    if len(nodes):
        worst = float(located.errors[nodes].max())
        yield Finding.of(
            "loose_nodes",
            Severity.DOUBT,
            value=len(nodes),
            samples=nodes,
            n=len(nodes),
            limit_=limit,
            worst=worst,
        )


def _find_misfit(
    network: SensorNetwork, errors: FloatArray, noise: float, rules: NetworkRules
) -> Iterator[Finding]:
    """Find ranges that do not fit, and those between anchors that contradict their positions."""
    large = np.abs(errors) > rules.misfit * noise
    is_anchor = np.zeros(network.n_nodes, dtype=bool)
    is_anchor[network.anchors.points] = True
    between = is_anchor[network.pairs].all(axis=1)
    for code, rows in (("ranges_misfit", large & ~between), ("anchors_misfit", large & between)):
        if rows.any():
            worst = int(np.argmax(np.where(rows, np.abs(errors), -1.0)))
            first, second = network.pairs[worst]
            yield Finding.of(
                code,
                Severity.DOUBT,
                value=int(rows.sum()),
                samples=np.unique(network.pairs[rows]),
                n=int(rows.sum()),
                limit_=rules.misfit * noise,
                first=int(first),
                second=int(second),
                worst=float(abs(errors[worst])),
            )


def _find_wrong_radius(
    network: SensorNetwork, Y: FloatArray, noise: float, rules: NetworkRules
) -> Iterator[Finding]:
    """Find ranges longer than radios reach, and near pairs without a range."""
    if network.radius is None or not len(network.ranges):
        return
    longer = network.ranges > network.radius * (1.0 + rules.misfit * noise)
    if longer.any():
        yield Finding.of(
            "radius_too_short",
            Severity.DOUBT,
            value=int(longer.sum()),
            samples=np.unique(network.pairs[longer]),
            n=int(longer.sum()),
            radius=network.radius,
            longest=float(network.ranges.max()),
        )
    near = rules.missing * network.radius
    absent = pairs_without_range([Y], network.pairs, near)
    n_short = int((network.ranges < near).sum())
    fraction = len(absent) / max(len(absent) + n_short, 1)
    if fraction > rules.many:
        yield Finding.of(
            "ranges_missing",
            Severity.DOUBT,
            value=fraction,
            samples=np.unique(absent),
            n=len(absent),
            near=near,
        )
