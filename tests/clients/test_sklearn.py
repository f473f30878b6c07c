"""A step of a scikit-learn pipeline: fitted, cloned, pickled and searched like others, through one gate."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chi2

import rldp

pytest.importorskip("sklearn", minversion="1.7", reason="scikit-learn 1.7 is not installed")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from rldp.sklearn import ReleaseTransformer

N = 400
CODES = np.random.default_rng(7).integers(0, 6, N)
PEOPLE = pd.DataFrame(
    {
        "region": np.where(np.arange(N) % 3 == 0, "N", "S"),
        "age": 10 * (1 + CODES % 3),
        "job": np.array(["farm", "shop"])[(CODES + np.arange(N) // 2) % 2],
        "sex": np.where((CODES >= 2) ^ (np.arange(N) % 5 == 0), "m", "f"),
    },
    index=range(1000, 1000 + N),
)
ARRAY = np.column_stack([CODES // 2, CODES % 3, np.arange(N) % 2]).astype(float)


def transformer(**changes):
    given = {"secret": "sex", "values": ["age"], "epsilon": 0.5, "privacy": "nominal"}
    return ReleaseTransformer(**(given | changes))


def failures(estimator):
    """What scikit-learn asks of all estimators and this one does not do, and why."""
    reasons = {
        "check_estimators_nan_inf": "both are refused, but the sentence speaks of nulls and finite labels; "
        "columns that are not read are not looked at",
    }
    if estimator.random_state is not None:
        why = "each row takes the next words of the stream of random numbers: its output depends on its place"
        reasons |= dict.fromkeys(
            ["check_methods_sample_order_invariance", "check_methods_subset_invariance"], why
        )
    return reasons


@parametrize_with_checks(
    [
        transformer(secret=0, values=[1], bins=3),
        transformer(secret=0, values=[1], bins=3, random_state=0),
    ],
    expected_failed_checks=failures,
)
@pytest.mark.filterwarnings("ignore")
def test_it_does_what_scikit_learn_asks_of_an_estimator(estimator, check):
    np.random.seed(0)  # some checks shuffle rows with it
    check(estimator)


# What comes out


def test_the_released_columns_come_out_and_nothing_else():
    released = transformer(values=["age", "job"], distortion="hamming").fit_transform(PEOPLE)
    assert list(released.columns) == ["age", "job"]
    assert released.index.equals(PEOPLE.index)
    assert released.dtypes.equals(PEOPLE[["age", "job"]].dtypes)
    assert set(released["age"]) <= {10, 20, 30}


def test_columns_beside_them_are_named_aloud():
    kept = transformer(keep=["region"]).fit(PEOPLE)
    with pytest.warns(rldp.KeptColumnsWarning, match="ε covers only the released columns"):
        released = kept.transform(PEOPLE)
    assert list(released.columns) == list(kept.get_feature_names_out()) == ["region", "age"]
    pd.testing.assert_series_equal(released["region"], PEOPLE["region"])


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, pl.DataFrame, lambda frame: pa.Table.from_pandas(frame, preserve_index=False)]
)
def test_the_kind_of_frame_that_goes_in_comes_out(kind):
    rows = kind(PEOPLE)
    released = transformer().fit_transform(rows)
    assert type(released) is type(rows)
    assert released.shape == (N, 1)


def test_arrays_name_columns_by_their_place():
    release = transformer(secret=0, values=[2, 1], distortion="hamming").fit(ARRAY)
    released = release.transform(ARRAY)
    assert released.dtype == float
    assert released.shape == (N, 2)
    assert set(released[:, 0]) <= {0.0, 1.0}
    assert set(released[:, 1]) <= {0.0, 1.0, 2.0}
    assert list(release.get_feature_names_out()) == ["x2", "x1"]
    assert list(release.get_feature_names_out(["a", "b", "c"])) == ["c", "b"]


def test_arrays_may_hold_texts():
    rows = PEOPLE[["sex", "job"]].to_numpy(dtype=object)
    released = transformer(secret=0, values=1, distortion="hamming").fit_transform(rows)
    assert set(released[:, 0]) <= {"farm", "shop"}


def test_numbers_beside_texts_in_lists_remain_numbers():
    rows = PEOPLE[["sex", "age"]].to_numpy().tolist()
    released = transformer(secret=0, values=1).fit_transform(rows)
    assert set(released[:, 0]) <= {10, 20, 30}


def test_places_work_in_frames_too():
    release = transformer(secret=3, values=[1]).fit(PEOPLE)
    assert release.protocol_.value_columns == ("age",)
    assert list(release.transform(PEOPLE).columns) == ["age"]


def test_places_and_names_may_come_from_numpy():
    release = transformer(secret=np.int64(3), values=np.array(["age"])).fit(PEOPLE)
    assert (release.secret_names_, release.value_names_) == (("sex",), ("age",))


def test_frames_may_number_their_columns():
    rows = pd.DataFrame(ARRAY)
    released = transformer(secret=0, values=[1]).fit_transform(rows)
    assert list(released.columns) == [1]


def test_a_column_transformer_hands_other_columns_to_other_steps():
    """As pipelines do that release some columns of a table and encode others."""
    steps = ColumnTransformer(
        [
            ("released", transformer(values=["age", "job"], distortion="hamming"), ["sex", "age", "job"]),
            ("public", OneHotEncoder(sparse_output=False), ["region"]),
        ]
    ).set_output(transform="pandas")
    columns = ["released__age", "released__job", "public__region_N", "public__region_S"]
    assert list(steps.fit_transform(PEOPLE).columns) == columns


@pytest.mark.parametrize("rows", [PEOPLE, pl.DataFrame(PEOPLE), PEOPLE.to_numpy(dtype=object)], ids=type)
@pytest.mark.parametrize(("wanted", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_decides_what_comes_out(rows, wanted, kind):
    release = transformer(secret=3, values=[1]).set_output(transform=wanted)
    released = release.fit_transform(rows)
    assert type(released) is kind
    assert list(released.columns) == list(release.get_feature_names_out())
    assert set(np.asarray(released).ravel()) <= {10, 20, 30}


def test_released_columns_may_have_other_names():
    release = transformer(options=rldp.ReleaseOptions(released=["age_out"])).fit(PEOPLE)
    assert list(release.transform(PEOPLE).columns) == list(release.get_feature_names_out()) == ["age_out"]


# What is drawn


def test_outputs_have_the_probabilities_of_the_protocol_that_the_library_designs():
    release = transformer(epsilon=0.3).fit(PEOPLE)
    sample = rldp.Sample.from_data(PEOPLE, secret="sex", value="age")
    wanted = rldp.design(sample, 0.3, privacy="nominal", utility="nominal").protocol
    assert release.protocol_ == wanted
    rows = pd.concat([PEOPLE] * 25, ignore_index=True)
    counts = pd.crosstab([rows["sex"], rows["age"]], release.transform(rows)["age"].to_numpy()).to_numpy()
    expected = sample.counts.reshape(-1, 1) * 25 * wanted.matrix.reshape(-1, 3)
    assert not counts[expected == 0].any()
    cells = expected > 0
    statistic = ((counts - expected)[cells] ** 2 / expected[cells]).sum()
    assert statistic < chi2.isf(1e-6, cells.sum() - len(expected))


def test_draws_are_secure_unless_a_seed_is_given_for_tests():
    seeded = transformer(epsilon=0.1, random_state=3).fit(PEOPLE)
    first, second = (seeded.transform(PEOPLE) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    fresh = transformer(epsilon=0.1).fit(PEOPLE)
    assert not fresh.transform(PEOPLE).equals(fresh.transform(PEOPLE))


def test_every_decision_from_released_rows_keeps_what_the_guide_to_fairness_says():
    """All yes-or-no decisions, under the distribution for which the design is private: 2⁶ of them."""
    protocol = transformer(values=["age", "job"], distortion="hamming").fit(PEOPLE).protocol_
    law = protocol.guarantee.sample.distribution
    first, second = np.einsum("su,suy->sy", law / law.sum(axis=1, keepdims=True), protocol.matrix)
    decisions = (np.arange(1, 2 ** len(first) - 1)[:, None] >> np.arange(len(first))) & 1
    one, other = decisions @ first, decisions @ second
    assert np.minimum(one / other, other / one).min() == pytest.approx(np.exp(-0.5), rel=1e-4)
    assert np.minimum(one / other, other / one).min() >= np.exp(-0.5) - 1e-12
    assert np.abs(one - other).max() <= np.tanh(0.25) + 1e-12


# A step like any other


def test_clone_and_pickle_keep_it():
    release = transformer(random_state=1, labels={"age": [10, 20, 30, 40]})
    assert clone(release).get_params() == release.get_params()
    release.fit(PEOPLE)
    again = pickle.loads(pickle.dumps(release))
    pd.testing.assert_frame_equal(again.transform(PEOPLE), release.transform(PEOPLE))
    assert again.protocol_ == release.protocol_


def test_clone_keeps_objects_among_the_parameters():
    public = rldp.Sample([[30, 40, 50], [50, 40, 30]], secrets=["f", "m"], values=[10, 20, 30])
    given = {
        "sample": public,
        "privacy": rldp.Credible(0.1),
        "options": rldp.ReleaseOptions(epsilon_at_most=1),
    }
    release = clone(transformer(**given)).fit(PEOPLE)
    assert release.protocol_.guarantee.sample == public
    assert release.protocol_.guarantee.privacy.alpha == 0.1


def test_a_chain_is_released_and_pickled_like_a_table():
    distortion = {"age": "squared", "job": "hamming"}
    release = transformer(values=["age", "job"], privacy="credible", chain=True, distortion=distortion)
    again = pickle.loads(pickle.dumps(release.fit(PEOPLE)))
    assert isinstance(again.protocol_, rldp.Chain)
    assert list(again.transform(PEOPLE).columns) == ["age", "job"]


def test_a_grid_search_over_epsilon():
    pipeline = make_pipeline(transformer(random_state=0), OneHotEncoder(), LogisticRegression())
    search = GridSearchCV(pipeline, {"releasetransformer__epsilon": [0.1, 10.0]}, cv=3, error_score="raise")
    search.fit(PEOPLE, PEOPLE["age"] == 20)
    assert search.best_params_ == {"releasetransformer__epsilon": 10.0}
    assert search.predict(PEOPLE.iloc[:5]).shape == (5,)


def test_what_does_not_read_the_secret_predicts_without_it():
    release = transformer(epsilon_known=0)
    pipeline = make_pipeline(release, OneHotEncoder(), LogisticRegression())
    pipeline.fit(PEOPLE, PEOPLE["age"] == 20)
    assert not pipeline[0].protocol_.reads_secret
    assert pipeline.predict(PEOPLE.drop(columns="sex")).shape == (N,)
    assert pipeline.predict(PEOPLE).shape == (N,)  # which it may have, and does not read
    with pytest.raises(ValueError, match="feature names should match"):
        transformer().fit(PEOPLE).transform(PEOPLE.drop(columns="sex"))


def test_an_array_without_the_secret_must_have_had_it_last():
    last = transformer(secret=2, values=[0], epsilon_known=0).fit(ARRAY)
    assert last.transform(ARRAY[:, :2]).shape == (N, 1)
    first = transformer(secret=0, values=[1], epsilon_known=0).fit(ARRAY)
    with pytest.raises(ValueError, match="X has 2 features, but ReleaseTransformer is expecting 3"):
        first.transform(ARRAY[:, 1:])


def test_a_public_sample_takes_the_place_of_the_rows_of_fit():
    public = rldp.Sample([[30, 40, 50], [50, 40, 30]], secrets=["f", "m"], values=[10, 20, 30])
    release = transformer(sample=public, options=rldp.ReleaseOptions(allow_drift=True)).fit(PEOPLE)
    assert release.protocol_.guarantee.sample == public
    assert release.transform(PEOPLE).shape == (N, 1)
    read = rldp.Sample.from_data(PEOPLE, secret="sex", value="age").noisy(1.0)
    renamed = PEOPLE.rename(columns={"sex": "gender"})
    noisy = ReleaseTransformer("gender", "age", epsilon=0.5, sample=read).fit(renamed)
    assert noisy.transform(renamed).shape == (N, 1)


def test_a_sample_of_the_same_columns_in_another_order_is_refused():
    """Its first column would be released as the second."""
    public = rldp.Sample.from_data(PEOPLE, secret="sex", value=["job", "region"])
    with pytest.raises(rldp.InvalidArgument, match=r"^values must be in the order .* \['job', 'region'\]"):
        transformer(values=["region", "job"], sample=public, distortion="hamming").fit(PEOPLE)


# What is refused


def test_the_gate_is_the_library_s():
    release = transformer().fit(PEOPLE)
    drifted = PEOPLE.assign(sex=np.where(PEOPLE["age"] == 10, "f", "m"))
    with pytest.raises(rldp.DataError, match=r"differ from the sample more .* allow_drift=True"):
        release.transform(drifted)
    unknown = PEOPLE.assign(age=PEOPLE["age"].replace(30, 31))
    with pytest.raises(rldp.DataError, match="column 'age' of data must hold known labels"):
        release.transform(unknown)
    with pytest.raises(rldp.NotProved, match="must promise pairs"):
        transformer(options=rldp.ReleaseOptions(require="pairs")).fit(PEOPLE)
    with pytest.raises(rldp.InvalidArgument, match="keep must not name the secret column 'sex'"):
        transformer(keep=["sex"]).fit_transform(PEOPLE)
    with pytest.raises(
        rldp.InvalidArgument, match="keep must not name 'id', whose entries are nearly unique"
    ):
        transformer(keep=["id"]).fit_transform(PEOPLE.assign(id=range(N)))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"secret": "gender"}, "^data has no column 'gender'"),
        ({"secret": 4}, r"^secret must be a place from 0 to 3, got 4"),
        ({"values": -1}, r"^values must be a place from 0 to 3, got -1"),
        ({"values": []}, r"^value must be the name of a column, or a list of them"),
        ({"values": {"age"}}, r"^values must be a column, or a list of columns"),
        ({"values": [True]}, r"^values must be the name of a column or its place, got True"),
        ({"values": ["sex"]}, r"distinct|different"),
        ({"epsilon": -1}, r"^epsilon must"),
        ({"privacy": "none"}, r"^privacy must"),
        ({"missing": "skip"}, r"^missing must be 'refuse' or 'category', got 'skip'"),
        ({"labels": ["f"]}, r"^labels must map columns to their labels"),
        ({"labels": {"region": ["N"]}}, r"^labels must be of columns of secret or values, got 'region'"),
        ({"labels": {"age": [10, 20]}}, r"column 'age' of data must hold known labels"),
        ({"options": {"keep": ["region"]}}, r"^options must be an rldp.ReleaseOptions"),
        ({"options": rldp.ReleaseOptions(keep=["region"])}, r"^options must not hold keep"),
        ({"sample": "sample.json"}, r"^sample must be an rldp.Sample"),
        ({"random_state": -1}, r"^seed must"),
    ],
)
def test_a_bad_parameter_gets_one_sentence(changes, sentence):
    with pytest.raises(rldp.RldpError, match=sentence):
        transformer(**changes).fit_transform(PEOPLE)


def test_a_lazy_frame_is_refused():
    with pytest.raises(rldp.InvalidArgumentType, match=r"^X must be a frame in memory or an array"):
        transformer().fit(pl.LazyFrame(PEOPLE))


@pytest.mark.parametrize(
    "rows", [PEOPLE["age"], PEOPLE["job"].to_numpy(), {"sex": ["f"]}, "people.csv", [[1, 2], [1]]]
)
def test_what_is_not_a_table_is_refused_without_its_entries(rows):
    with pytest.raises(rldp.InvalidArgument, match=r"^X must be a frame or a 2-dimensional array") as refused:
        transformer(secret=0, values=[1]).fit(rows)
    assert not any(entry in str(refused.value) for entry in ("farm", "people", "'f'"))


def test_missing_entries_are_refused_or_a_category():
    rows = PEOPLE.assign(age=PEOPLE["age"].astype(float).where(PEOPLE["age"] < 30))
    with pytest.raises(rldp.DataError, match="column 'age' of data must hold no nulls"):
        transformer().fit(rows)
    released = transformer(missing="category").fit_transform(rows)
    assert len(released) == N
