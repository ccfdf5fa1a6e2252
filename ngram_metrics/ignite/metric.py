"""The base classes of the metrics in ``ngram_metrics.ignite``: ``CountingMetric`` as metrics of ignite."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sized
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar, cast, get_args
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import check_choice
from ngram_metrics._core.scoring.counting_metric import CountingMetric
from ngram_metrics._core.scoring.counts import Counts
from ngram_metrics._core.scoring.exchange import (
    Saved,
    current_rank,
    gather_counts,
    gather_vectors,
    number_digest,
    pack,
    unpack,
)
from ngram_metrics._core.scoring.groups import Grouping
from ngram_metrics._core.scoring.items import Item, computes_several, is_scored_value
from ngram_metrics._core.scoring.scorer import Scorer, rename_values
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import shortened, warn_user

try:
    from ignite import distributed as idist
    from ignite.engine import Engine as Engine
    from ignite.engine import Events as Events
    from ignite.exceptions import NotComputableError
    from ignite.metrics import MetricsLambda, RunningAverage
    from ignite.metrics.metric import EpochWise, Metric, MetricUsage
except ImportError as error:
    raise ModuleNotFoundError(
        "ngram_metrics.ignite needs pytorch-ignite: pip install pytorch-ignite (ignite on PyPI is another package)",
        name=error.name,
    ) from error

#: From an engine's output to the argument of ``update``.
OutputTransform: TypeAlias = Callable[[Any], object]
#: What ``compute`` returns.
Computed: TypeAlias = float | Tensor | dict[str, float] | dict[str, Tensor]
#: How an engine gets several values: each by its name, all as a dict, or both.
ResultMode: TypeAlias = Literal["flatten", "named", "both"]
CPU = torch.device("cpu")
Created = TypeVar("Created", bound="IgniteMetric")
#: How many parameters may be passed by position, as in ignite: the transform, the device and the mode.
_POSITIONAL = 3
#: The metrics with ignite's keys that are attached to each engine.
_attached: WeakKeyDictionary[Engine, WeakSet[KeyedIgniteMetric]] = WeakKeyDictionary()


def _module_of(cls: type) -> str:
    """Return the public module of a class."""
    return cls.__module__.removesuffix(".metric_classes")


def unchanged(output: object) -> object:
    """Return an engine's output unchanged. A lambda could not be pickled."""
    return output


def _gather_ranks(tensor: Tensor, group: object = None) -> Tensor:
    """Return the tensors of all ranks as one. Some of ignite's backends are not in torch.distributed."""
    return cast(Tensor, idist.all_gather(tensor))


def take_options_by_keyword(make: Callable[..., Scorer]) -> Callable[[type[Created]], type[Created]]:
    """Return a decorator of a class whose ``options`` are those of the function that makes its scorer.

    The signature of the class shows these options with their defaults. An option that is passed by position is an error
    that says where ignite's own parameters are.
    """

    def decorate(cls: type[Created]) -> type[Created]:
        construct: Callable[..., None] = cls.__init__
        own = list(inspect.signature(construct).parameters.values())[:-1]  # without ``options``
        signature = inspect.Signature([*own, *inspect.signature(make).parameters.values()])

        @functools.wraps(construct)
        def construct_from_all(self: Created, *args: object, **options: object) -> None:
            construct(self, *args, **options)

        construct_from_all.__signature__ = signature  # type: ignore[attr-defined]
        construct_checked: Callable[..., None] = named_arguments(construct_from_all)

        @functools.wraps(construct_checked)
        def construct_by_keyword(self: Created, *args: object, **options: object) -> None:
            if len(args) > _POSITIONAL or (args and not callable(args[0])):
                raise TypeError(
                    f"{cls.__name__} was given {shortened(args)} by position: expected options by keyword, such as "
                    f"{cls.__name__}(average='macro'). The classes of ngram_metrics.ignite.drop_in take ignite's own "
                    "parameters by position"
                )
            construct_checked(self, *args, **options)

        cls.__init__ = construct_by_keyword  # type: ignore[method-assign, assignment]
        cls._make = staticmethod(make)
        return cls

    return decorate


def _combine(name: str) -> Callable[..., MetricsLambda]:
    """Return ignite's operator with this name, with an early error for a metric of several values."""
    combine = getattr(Metric, name)

    @functools.wraps(combine)
    def combine_one_value(self: IgniteMetric, other: object) -> MetricsLambda:
        for metric in (self, other):
            if isinstance(metric, IgniteMetric) and computes_several(metric):
                metric._refuse_several("combine")
        return cast(MetricsLambda, combine(self, other))

    return combine_one_value


class IgniteMetric(CountingMetric, Metric):
    """Counts batches, and scores their sum, their mean, or each segment."""

    #: What ``update`` takes, by the names in a dict.
    required_output_keys: tuple[str, ...] = ("y_pred", "y")
    higher_is_better = True
    #: The error of ``compute`` before any data, with the name of the class.
    _no_data = "{} must have at least one example before it can be computed."

    def __init_subclass__(cls) -> None:
        """Make the errors of the constructor suggest the option that was meant."""
        super().__init_subclass__()
        if "__init__" in vars(cls):
            cls.__init__ = named_arguments(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        scorer: Scorer,
        confidence: float | None,
        device: str | torch.device,
        output_transform: OutputTransform,
        metrics_result_mode: ResultMode = "both",
        grouping: Grouping | None = None,
    ) -> None:
        check_choice("metrics_result_mode", metrics_result_mode, get_args(ResultMode))
        self._begin(scorer, confidence, grouping)
        self.device = torch.device(device)
        self._scores_no_data = False
        self._returns_tensors = scorer.average == "none"
        # Without skip_unrolling ignite would pass two lists of tensors to update pair by pair.
        super().__init__(output_transform, self.device, skip_unrolling=True)
        # An attribute, because older versions of ignite lack this argument.
        self._metrics_result_mode = metrics_result_mode

    def _joined(self) -> Counts:
        if idist.get_world_size() == 1:
            return self._counts
        joined = gather_counts(
            lambda: pack(self._digest(), Saved(self._counts, current_rank())),
            lambda packed: unpack(packed, self._digest(), self._empty).counts,
            self.confidence,
            functools.partial(gather_vectors, gather=_gather_ranks),
            self.device,
        )
        return self._send(joined)

    def _digest(self) -> NDArray[np.int64]:
        return number_digest(self.describe_settings())

    def __getitem__(self, index: object) -> MetricsLambda:
        """Return a metric of one value, such as ``metric["rougeL_fmeasure"]``.

        Raises:
            KeyError: ``compute`` returns no value with this name.
        """
        return IgniteValue(self, str(index)) if is_scored_value(self, index) else super().__getitem__(index)

    def __repr__(self) -> str:
        """Show the settings that differ from the defaults."""
        return f"{_module_of(type(self))}.{type(self).__name__}({self._changed_settings()})"

    def reset(self) -> None:
        """Forget all batches."""
        self._counts = self._send(self._empty)

    def update(
        self, output: tuple[Hypotheses, References] | Mapping[str, Hypotheses | References], *others: object
    ) -> None:
        """Count a batch, ``(y_pred, y)`` or ``{"y_pred": y_pred, "y": y}``.

        Raises:
            TypeError, ValueError: an output of another form, different lengths, or segments that cannot be read. The
                counts do not change.
        """
        parts: Any = output
        keys = self.required_output_keys
        if isinstance(output, Mapping) and output.keys() == {*keys}:
            parts = tuple(output[key] for key in keys)
        if others or not isinstance(parts, (tuple, list)) or len(parts) != len(keys):
            names = ", ".join(keys)
            named = ", ".join(f'"{key}": {key}' for key in keys)
            raise TypeError(f"update takes one argument: expected metric.update(({names})), or {{{named}}}")
        y_pred, y = parts[:2]
        lengths = [len(side) for side in (y_pred, y) if isinstance(side, Sized) and not isinstance(side, str)]
        if len(set(lengths)) > 1 and not isinstance(y_pred, str):  # a str is one segment
            raise ValueError(
                f"nb of candidates should be equal to nb of reference lists ({' != '.join(map(str, lengths))})"
            )
        self._count(*parts)

    def compute(self) -> Computed:
        """Return the score of all batches since the last reset. The scores of average none are in order of ranks.

        Raises:
            NotComputableError: no data yet, except for micro BLEU.
            TypeError: ignite's ``RunningAverage`` calls, and there are several values.
        """
        # RunningAverage would multiply a dict from the second batch on.
        if computes_several(self) and sys._getframe(1).f_globals.get("__name__") == RunningAverage.__module__:
            self._refuse_several("average")
        counts = self._joined()
        if counts.is_empty and not self._scores_no_data:
            raise NotComputableError(self._no_data.format(type(self).__name__))
        result = self._value(counts)
        if self._returns_tensors:
            return result
        if not isinstance(result, dict):
            return float(result)
        # Copy all numbers at once, because each copy waits for the device.
        numbers: list[float] = torch.stack(list(result.values())).tolist()
        return dict(zip(result, numbers, strict=True))

    def _refuse_several(self, verb: str) -> NoReturn:
        """Raise TypeError for something that can only be done with one value."""
        first = next(iter(self.scorer.values))
        raise TypeError(f"{self!r} computes several values: {verb} one of them, such as metric[{first!r}]")

    def completed(self, engine: Engine, name: str) -> None:
        """Write the value to ``engine.state.metrics``, or several values as ``metrics_result_mode`` says."""
        result = self.compute()
        if not isinstance(result, dict):
            engine.state.metrics[name] = result.cpu() if isinstance(result, Tensor) and result.dim() else float(result)
            return
        values = self.name_values(name, result)
        if self._metrics_result_mode != "named":
            engine.state.metrics.update(values)
        if self._metrics_result_mode == "named" or (self._metrics_result_mode == "both" and name not in values):
            engine.state.metrics[name] = result

    def name_values(self, name: str, values: Mapping[str, object]) -> dict[str, object]:
        """Return values by their names in an engine. These begin with ``name``."""
        return rename_values(name, values, self.scorer)

    # ignite saves and loads attributes by their names. Counts are packed with their settings instead.
    def _state_dict_per_rank(self) -> OrderedDict[str, Tensor]:
        return OrderedDict(counts=torch.from_numpy(pack(self._digest(), Saved(self._counts, current_rank()))))

    def _load_state_dict_per_rank(self, state_dict: Mapping[str, Tensor]) -> None:
        counts, saved_on = unpack(state_dict.get("counts"), self._digest(), self._empty)
        if self._begins_empty(counts, saved_on, current_rank()):
            counts = self._empty
        self._counts = self._send(counts)


# ignite's own operators would fail only in compute, after the whole run.
for _operator in ("add", "radd", "sub", "rsub", "mul", "rmul", "pow", "rpow", "mod", "truediv", "rtruediv", "floordiv"):
    if hasattr(Metric, f"__{_operator}__"):  # older versions of ignite have fewer
        setattr(IgniteMetric, f"__{_operator}__", _combine(f"__{_operator}__"))


class KeyedIgniteMetric(IgniteMetric):
    """Writes its values under ignite's keys, without the name passed to ``attach``."""

    def attach(self, engine: Engine, name: str, usage: str | MetricUsage = EpochWise()) -> None:  # noqa: B008
        """Attach to an engine, as ignite does, and warn if another metric writes the same keys."""
        others = _attached.setdefault(engine, WeakSet())
        written = {
            key
            for other in others
            if other is not self and engine.has_event_handler(other.completed)
            for key in other.scorer.values
            if "named" not in (self._metrics_result_mode, other._metrics_result_mode)
        }
        if shared := [key for key in self.scorer.values if key in written]:
            warn_user(
                f"two metrics attached to one engine both write {shared}, so only the values of the last one remain. "
                "As in ignite, the name passed to attach is not in the keys. It is in those of "
                "ngram_metrics.ignite.ROUGEScore"
            )
        others.add(self)
        super().attach(engine, name, usage)

    def __repr__(self) -> str:
        """Show the keys that are written."""
        return f"{_module_of(type(self))}.{type(self).__name__}({', '.join(self.scorer.values)})"

    def name_values(self, name: str, values: Mapping[str, object]) -> dict[str, object]:
        """Return values by ignite's keys. Raise ValueError, as ignite does, if ``name`` is one of them."""
        if self._metrics_result_mode != "flatten" and name in values:
            raise ValueError(f"Argument name '{name}' is conflicting with mapping keys: {list(values)}")
        return dict(values)


class IgniteValue(Item, MetricsLambda):
    """One value of an ignite metric, such as ``rouge["rougeL_fmeasure"]``. Both share their counts."""

    def __init__(self, whole: IgniteMetric, value: str) -> None:
        self.whole = whole
        self.value = value
        super().__init__(operator.itemgetter(value))
        self.args = [whole]  # MetricsLambda.__init__ would reset it
