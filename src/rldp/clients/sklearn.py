"""Release as a step of a pipeline: ``pip install 'robust-ldp[sklearn]'``; see ``docs/clients.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeAlias

import numpy as np
from narwhals.dependencies import is_into_dataframe, is_polars_lazyframe
from numpy.typing import ArrayLike, NDArray

from rldp._common.checks import Label, shown
from rldp._common.process import needs
from rldp.data.bins import BinCount
from rldp.data.reading import Treatment
from rldp.designer.api import design
from rldp.distortions import Distortion, Outputs
from rldp.errors import DataError, InvalidArgument, InvalidArgumentType
from rldp.gate.release import release_frame, requested
from rldp.releaser.options import ReleaseOptions
from rldp.sample import Sample
from rldp.sets import PrivacySet, UtilitySet

with needs("rldp.sklearn", "scikit-learn 1.7 or later", install="robust-ldp[sklearn]"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data

__all__ = ["ReleaseTransformer"]

Place: TypeAlias = str | int
"""A column by its name, or by its place from 0."""


class ReleaseTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Publish columns without leaking another: a step of a scikit-learn pipeline.

    ``fit`` designs a protocol on its rows, as :func:`rldp.design` does. ``transform`` draws the released
    columns with exactly the protocol's probabilities, after the same checks as :func:`rldp.release_file`: it
    verifies the protocol and refuses rows with unknown labels or that differ from the sample more than chance
    explains. It returns the released columns and those that ``keep`` names, and nothing else: not the secret.

    Whatever later steps compute from the released columns keeps the promise: with ε, a decision is at most
    e^ε times as likely under one secret as under another. See ``docs/guide/fairness.md``.

    **Two draws of one row are two releases.** Every ``transform`` draws anew. Publish only one result.

    Parameters
    ----------
    secret : str or int, or sequence of these
        The column to protect, by name or by position from 0. Several columns are protected jointly.
    values : str or int, or sequence of these
        The columns to publish. Several columns are published together, under one ε.
    epsilon : float
        Privacy level, as in :func:`rldp.design`.
    privacy, utility, distortion, weights, outputs, chain, max_seconds
        As in :func:`rldp.design`, except that the sets default to "credible" and "nominal". The columns of an
        array are named ``"x0"``, ``"x1"``, ….
    epsilon_known : float
        κ, as in :func:`rldp.design`. With 0 the protocol does not read the secret, and ``transform`` and
        ``predict`` accept tables without the secret column. In an array it must then be the last column,
        since columns are identified by position.
    labels : mapping {column: labels}, optional
        Labels of secret or value columns; by default the labels seen by ``fit``. Other labels are refused
        later, so list all labels that may occur.
    bins : int or "auto", or mapping {value column: these}, optional
        As in :meth:`rldp.Sample.from_data`.
    missing : {"refuse", "category"}
        How missing entries are treated. Rows cannot be skipped, since a transformer keeps all rows. With
        "category" they are a value of their own, which is null or NaN in a column of numbers.
    sample : Sample, optional
        The public sample to design on instead of the rows of ``fit``. Pass one if these rows are
        confidential: a design on them reveals something about them. ``sample.noisy(…)`` makes such a sample
        from a confidential one.
    keep : sequence of str or int
        Columns to copy beside the released ones. **ε does not cover them.**
    options : ReleaseOptions, optional
        Further options of the release, such as ``rldp.ReleaseOptions(allow_drift=True)``.
    random_state : int, optional
        **For tests only.** Anyone who knows the seed can undo the randomisation. By default, every draw uses
        the operating system's secure randomness.

    Attributes
    ----------
    protocol_ : Protocol
        Holds its proof and the counts of the sample. A pickle of the transformer contains them, too.
    design_ : Design
    n_features_in_ : int
    feature_names_in_ : array of str
        Defined if ``fit`` saw columns with names.

    Examples
    --------
    >>> import pandas, rldp.sklearn
    >>> people = pandas.DataFrame({"sex": ["f", "m"] * 50, "age": [10, 20, 30, 40] * 25})
    >>> release = rldp.sklearn.ReleaseTransformer(secret="sex", values=["age"], epsilon=0.5)
    >>> released = release.fit_transform(people)
    >>> list(released.columns), len(released)
    (['age'], 100)
    >>> rldp.verify(release.protocol_).ok
    True
    """

    def __init__(
        self,
        secret: Place | Sequence[Place],
        values: Place | Sequence[Place],
        *,
        epsilon: float,
        privacy: PrivacySet = "credible",
        utility: UtilitySet = "nominal",
        distortion: Distortion | Mapping[str, Distortion] = "squared",
        weights: Mapping[str, float] | None = None,
        outputs: Outputs = None,
        epsilon_known: float = math.inf,
        chain: bool | Sequence[str] | None = None,
        max_seconds: float | None = None,
        labels: Mapping[Place, Sequence[Label]] | None = None,
        bins: BinCount | Mapping[str, BinCount] | None = None,
        missing: Treatment = "refuse",
        sample: Sample | None = None,
        keep: Sequence[Place] = (),
        options: ReleaseOptions | None = None,
        random_state: int | None = None,
    ) -> None:
        self.secret = secret
        self.values = values
        self.epsilon = epsilon
        self.privacy = privacy
        self.utility = utility
        self.distortion = distortion
        self.weights = weights
        self.outputs = outputs
        self.epsilon_known = epsilon_known
        self.chain = chain
        self.max_seconds = max_seconds
        self.labels = labels
        self.bins = bins
        self.missing = missing
        self.sample = sample
        self.keep = keep
        self.options = options
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Design the protocol on rows of secrets and values.

        Parameters
        ----------
        X : data frame (pandas, Polars, PyArrow), or array (rows, columns)
            The public sample; if ``sample`` is given, only the columns are used.
        y : None
            Ignored. A label to be published under the promise must be one of ``values``.

        Raises
        ------
        DataError
            If a column does not exist, or entries are missing or not labels.
        InvalidArgument, InvalidArgumentType
            If a parameter cannot be used.
        """
        table = self._checked(X, reset=True)
        header = [str(name) for name in _header(table)]
        self.secret_names_ = _names("secret", self.secret, header)
        self.value_names_ = _names("values", self.values, header)
        self.kept_names_ = _names("keep", self.keep, header)
        self.design_ = design(
            self._sampled(table, header) if self.sample is None else self.sample,
            self.epsilon,
            privacy=self.privacy,
            utility=self.utility,
            distortion=self.distortion,
            weights=self.weights,
            outputs=self.outputs,
            epsilon_known=self.epsilon_known,
            chain=self.chain,
            max_seconds=self.max_seconds,
        )
        self.protocol_ = self.design_.protocol
        requested(self.protocol_, self._asked())  # refuse now what every release would refuse
        return self

    def transform(self, X: Any) -> Any:
        """Draw the released columns.

        Parameters
        ----------
        X : data frame or array
            With the columns that ``fit`` saw; the secret may be absent if ``epsilon_known`` is 0.

        Returns
        -------
        frame or array
            Of the kind of X, unless ``set_output`` says otherwise: the kept columns, then the released ones,
            in the order of the rows.

        Raises
        ------
        DataError
            If entries are missing or not labels of the protocol, or if the rows differ from the sample more
            than chance explains.
        NotProved
            If the protocol does not prove what ``options`` require.
        InvalidArgument
            If ``keep`` names a column that must not be kept.
        """
        check_is_fitted(self)
        table = self._checked(X, reset=False)
        released = release_frame(self.protocol_, table, self._asked(), seed=self.random_state)
        return released if table is X else _as_array(released)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the output columns: the kept ones, then the released ones.

        Parameters
        ----------
        input_features : array_like of str, optional
            Names of the input columns. If ``fit`` saw names, they must be the same.
        """
        check_is_fitted(self)
        asked = self._asked()
        names = [*self.kept_names_, *asked.names_of_released(self.value_names_)]
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if len(given) != self.n_features_in_:
                raise InvalidArgument(
                    f"input_features should have length equal to number of features, {self.n_features_in_}, "
                    f"got {len(given)}"
                )
            seen = getattr(self, "feature_names_in_", None)
            if seen is not None and not np.array_equal(given, seen):
                raise InvalidArgument("input_features is not equal to feature_names_in_")
            if seen is None:
                called = dict(zip(_numbered(len(given)), given, strict=True))
                names = [called.get(name, name) for name in names]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "category"
        tags.non_deterministic = self.random_state is None
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return X as a frame with the columns that ``fit`` saw."""
        if is_into_dataframe(X):
            if reset or self._has_secret(X):
                validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if is_polars_lazyframe(X):
            raise InvalidArgumentType("X must be a frame in memory or an array, got a lazy frame: collect it")
        given = X if hasattr(X, "shape") else _listed(X)
        if len(given.shape) != 2:  # scikit-learn's message would show the entries
            raise InvalidArgument(
                "X must be a frame or a 2-dimensional array (rows, columns), got "
                f"{type(X).__name__} of dimension {len(given.shape)}. Reshape your data, or pass a frame"
            )
        array = check_array(given, dtype=None, ensure_all_finite=False, estimator=self)
        if reset or self._has_secret(array):
            validate_data(self, X, reset=reset, skip_check_array=True)
        return _as_table(array)

    def _has_secret(self, X: Any) -> bool:
        """Return whether X has the columns of the secret, or needs them."""
        if self.epsilon_known != 0:
            return True
        header = {str(name) for name in _header(X)}
        return not header.isdisjoint(self.secret_names_)

    def _sampled(self, table: Any, header: Sequence[str]) -> Sample:
        if self.missing == "skip":
            raise InvalidArgument(
                "missing must be 'refuse' or 'category', got 'skip': a transformer keeps all rows"
            )
        given = {} if self.labels is None else self.labels
        if not isinstance(given, Mapping):
            raise InvalidArgumentType(f"labels must map columns to their labels, got {shown(given)}")
        labels = dict(zip(_names("labels", list(given), header), given.values(), strict=True))
        roles = self.secret_names_, self.value_names_
        for name in labels:
            if name not in (*roles[0], *roles[1]):
                raise InvalidArgument(f"labels must be of columns of secret or values, got {name!r}")
        secrets, values = ({name: labels[name] for name in names if name in labels} for names in roles)
        return Sample.from_data(
            table,
            secret=list(self.secret_names_),
            value=list(self.value_names_),
            secrets=secrets or None,
            values=values or None,
            bins=self.bins,
            missing=self.missing,
        )

    def _asked(self) -> ReleaseOptions:
        """Return the options of a release of these columns."""
        options = ReleaseOptions() if self.options is None else self.options
        if not isinstance(options, ReleaseOptions):
            raise InvalidArgumentType(f"options must be an rldp.ReleaseOptions, got {shown(options)}")
        for name in ("secret", "value", "as_secret", "as_value", "keep"):
            if getattr(options, name):
                raise InvalidArgument(f"options must not hold {name}, which is a parameter of its own")
        own = self.protocol_.reading
        named: dict[str, Any] = {"secret": self.secret_names_, "value": self.value_names_}
        if own is not None:
            _in_order("secret", self.secret_names_, own.secret_names)
            _in_order("values", self.value_names_, own.value_names)
            named = {f"as_{role}": names for role, names in named.items()}
        if self.epsilon_known == 0:
            named = {role: names for role, names in named.items() if not role.endswith("secret")}
        return replace(options, keep=self.kept_names_, **named)


def _in_order(parameter: str, names: Sequence[str], own: Sequence[str]) -> None:
    """Refuse names of the sample's columns in another order; other names may rename its columns."""
    if any(name != other and name in own for name, other in zip(names, own, strict=False)):
        raise InvalidArgument(
            f"{parameter} must be in the order of the columns of the sample, {list(own)}, got {list(names)}"
        )


def _names(parameter: str, columns: Any, header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns given by name or by position."""
    given = columns.tolist() if isinstance(columns, np.ndarray | np.generic) else columns
    listed = [given] if isinstance(given, str | int) else given
    if not isinstance(listed, list | tuple):
        raise InvalidArgumentType(f"{parameter} must be a column, or a list of columns, got {shown(columns)}")
    names = []
    for column in listed:
        if not isinstance(column, str | int) or isinstance(column, bool):
            raise InvalidArgumentType(
                f"{parameter} must be the name of a column or its place, got {shown(column)}"
            )
        if isinstance(column, int) and not 0 <= column < len(header):
            raise InvalidArgument(
                f"{parameter} must be a place from 0 to {len(header) - 1}, got {column}: "
                f"n_features = {len(header)}"
            )
        names.append(header[column] if isinstance(column, int) else column)
    return tuple(names)


def _numbered(count: int) -> list[str]:
    """Return scikit-learn's names for the columns of an array."""
    return [f"x{i}" for i in range(count)]


def _header(table: Any) -> Sequence[Any]:
    """Return the names of the columns of a frame or an array."""
    if isinstance(table, np.ndarray):
        return _numbered(table.shape[1])
    return getattr(table, "column_names", None) or list(table.columns)


def _listed(rows: Any) -> NDArray[Any]:
    """Return lists of rows as an array, in which numbers beside texts remain numbers."""
    objects = np.asarray(rows, dtype=object)
    if objects.ndim != 2:
        return objects
    array = np.asarray(rows)
    return objects if array.dtype.kind in "US" else array


def _as_table(array: NDArray[Any]) -> Any:
    """Return an Arrow table of the columns of an array."""
    import pyarrow

    columns = {}
    for name, column in zip(_numbered(array.shape[1]), array.T, strict=True):
        try:
            columns[name] = pyarrow.array(column.tolist() if array.dtype == object else column)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
            raise DataError(f"column {name!r} of data must hold entries of one type, got several") from None
    return pyarrow.table(columns)


def _as_array(table: Any) -> NDArray[Any]:
    """Return the columns of an Arrow table as an array."""
    return np.column_stack([column.to_numpy() for column in table.columns])
