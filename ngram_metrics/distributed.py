"""The states of metrics on all ranks as one value, from which a run on any number of processes continues exactly."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import NamedTuple, TypedDict

import torch
from torch import distributed
from torchmetrics import Metric, MetricCollection

from ngram_metrics._core.scoring.settings_digest import name_differences
from ngram_metrics._core.text.messages import type_name
from ngram_metrics._torchmetrics.adaptor import Adaptor
from ngram_metrics._torchmetrics.states import (
    byte_tensor,
    gather_buffers,
    gather_packed,
    pack_states,
    unpack_states,
)
from ngram_metrics._torchmetrics.values import Item

__all__ = ["AllRanks"]

#: The only key of the state: it does not depend on what was counted.
_KEY = "ngram_metrics"
#: The bytes of a length and of the checksum.
_LENGTH = 8


class _Described(TypedDict):
    """A metric of one rank: the length of its packed states, and its settings in words."""

    bytes: int
    synchronized: bool
    digest: str
    settings: dict[str, str]


class _Share(NamedTuple):
    """What one rank has saved: its metrics in the order of their names, and their packed states one after another."""

    described: dict[str, _Described]
    states: bytes


class AllRanks:
    """Metrics with the states of all ranks, for a checkpoint that one rank writes: docs/guides/distributed.md.

    ``state_dict`` waits for every rank, so call it on every rank: never under ``if is_main_process``. It takes two
    collectives of the default process group, whatever the metrics have counted. ``load_state_dict`` takes none. With as
    many processes as have saved, each rank takes its own share; with another number rank 0 takes what all have counted,
    and the others begin empty. Without a process group there is one process.

    Args:
        metrics: a metric, a ``MetricCollection``, or metrics by name; of ``ngram_metrics`` or
            ``ngram_metrics.ignite``.

    Raises:
        TypeError: a metric of another package.

    Example:
        >>> from ngram_metrics import ChrF
        >>> from ngram_metrics.distributed import AllRanks
        >>> metric, resumed = ChrF(), ChrF()
        >>> metric.update(["the cat sat"], ["the cat is"])
        >>> state = AllRanks(metric).state_dict()
        >>> AllRanks(resumed).load_state_dict(state)
        >>> torch.equal(resumed.compute(), metric.compute())
        True
    """

    def __init__(self, metrics: object) -> None:
        self.metrics = metrics
        self._accumulators()

    def state_dict(self) -> dict[str, bytes]:
        """Return the states of all ranks, the same value on each rank, when every rank has called this.

        Raises:
            ValueError: the ranks have other metrics or settings, or a metric is synchronized at the moment: on all
                ranks, after the states were gathered.
            RuntimeError: another rank could not read its states; that rank raises its own error, at the same point.
        """
        is_alone = not (distributed.is_available() and distributed.is_initialized())
        gathered = gather_packed(
            lambda: byte_tensor(self._pack()),
            (lambda buffer: [buffer]) if is_alone else gather_buffers,
            torch.device("cpu"),
        )
        buffers = [buffer.numpy().tobytes() for buffer in gathered]
        _check_ranks(list(map(_read_share, buffers)))
        frames = b"".join(map(_frame, buffers))
        return {_KEY: frames + _checksum(frames)}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Set the states of this rank to its share of the states of all ranks, without waiting for another rank.

        Args:
            state: what ``state_dict`` returned, with any number of processes.

        Raises:
            TypeError, ValueError: a value that ``state_dict`` did not return, or states of other metrics or settings;
                no metric is then changed.
        """
        saved = state.get(_KEY) if isinstance(state, Mapping) else None
        if not isinstance(saved, bytes):
            raise TypeError(f"{type_name(saved)} under {_KEY!r}: expected the dict that AllRanks.state_dict returned")
        frames = saved[:-_LENGTH]
        if len(saved) <= _LENGTH or saved[-_LENGTH:] != _checksum(frames):
            raise ValueError(f"{len(saved)} bytes with another checksum: expected all that AllRanks saved, unchanged")
        shares = []
        while frames:
            frame, frames = _read_frame(frames)
            shares.append(_read_share(frame))
        accumulators = self._accumulators()
        described = shares[0].described
        if list(described) != list(accumulators):
            raise ValueError(f"the states are those of {list(described)}: expected those of {list(accumulators)}")
        loaded = {}
        start = [0] * len(shares)
        for name, metric in accumulators.items():
            metric._check_settings(byte_tensor(bytes.fromhex(described[name]["digest"])), described[name]["settings"])
            unpacked = []
            for rank, share in enumerate(shares):
                stop = start[rank] + share.described[name]["bytes"]
                unpacked.append(unpack_states(byte_tensor(share.states[start[rank] : stop]), metric.saved_defaults()))
                start[rank] = stop
            loaded[name] = metric.own_share(unpacked)
        for name, metric in accumulators.items():
            states = loaded[name]
            if states is None:
                metric.reset()
            else:
                metric.load_states(states)

    def _pack(self) -> bytes:
        """Return the share of this rank as ``_read_share`` reads it."""
        packed = []
        described: dict[str, _Described] = {}
        for name, metric in self._accumulators().items():
            packed.append(pack_states(metric.saved_states(), torch.device("cpu")).numpy().tobytes())
            described[name] = {
                "bytes": len(packed[-1]),
                "synchronized": metric._is_synced,
                "digest": bytes(metric.settings.tolist()).hex(),
                "settings": metric.describe_settings(),
            }
        return _frame(json.dumps(described).encode()) + b"".join(packed)

    def _accumulators(self) -> dict[str, Adaptor]:
        """Return the accumulators of all metrics in the order of their names."""
        named: Mapping[str, object] = {"": self.metrics}
        if isinstance(self.metrics, MetricCollection):
            # Only one metric of a compute group is updated; this gives its states to the others.
            named = dict(self.metrics.items(keep_base=True, copy_state=False))
        elif isinstance(self.metrics, Mapping):
            named = self.metrics
        for name in named:
            if not isinstance(name, str):  # JSON would save another key
                raise TypeError(f"the name {name!r} is {type_name(name)}: expected a str")
        accumulators = {}
        for name in sorted(named):
            metric = named[name]
            if isinstance(metric, Item):
                metric = metric.whole
            if not isinstance(metric, Metric):
                metric = getattr(metric, "__dict__", {}).get("_accumulator")  # of a metric of ignite
            if not isinstance(metric, Adaptor):
                raise TypeError(f"the metric {name!r} is {type_name(named[name])}: expected one of ngram_metrics")
            accumulators[name] = metric
        return accumulators


def _check_ranks(shares: list[_Share]) -> None:
    """Raise ValueError if ranks have other metrics or settings than rank 0, or a metric has synchronized."""
    first = shares[0].described
    for rank, (described, _) in enumerate(shares):
        if list(described) != list(first):
            raise ValueError(
                f"rank {rank} has the metrics {list(described)}, and rank 0 {list(first)}: expected the same"
            )
        for name, metric in described.items():
            if metric["digest"] != first[name]["digest"]:
                words = f"{{}} is {{}} on rank 0 and {{}} on rank {rank}"
                differences = name_differences(first[name]["settings"], metric["settings"], words)
                raise ValueError(f"the metric {name!r} has other settings on rank {rank} than on rank 0{differences}")
            if metric["synchronized"]:
                raise ValueError(f"the metric {name!r} of rank {rank} has the states of all ranks: call unsync() first")


def _frame(content: bytes) -> bytes:
    """Return bytes behind their length."""
    return len(content).to_bytes(_LENGTH, "little") + content


def _checksum(content: bytes) -> bytes:
    """Return a checksum, which has as many bytes as a length."""
    return zlib.crc32(content).to_bytes(_LENGTH, "little")


def _read_frame(content: bytes) -> tuple[bytes, bytes]:
    """Return the bytes behind a length, and what follows them."""
    stop = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    return content[_LENGTH:stop], content[stop:]


def _read_share(content: bytes) -> _Share:
    header, states = _read_frame(content)
    return _Share(json.loads(header), states)
