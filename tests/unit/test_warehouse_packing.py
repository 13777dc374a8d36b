"""Arrays as bytes: nothing is lost, and equal arrays are equal bytes."""

from __future__ import annotations

import io
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdc_tasks.warehouse.forms.canonical import digest_of
from sdc_tasks.warehouse.forms.packing import pack, unpack

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(32, 64)),
    hnp.unicode_string_dtypes(endianness="?", min_len=1, max_len=5),
)
ARRAYS = DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))
NAMES = st.text("abcdefghij_", min_size=1, max_size=8)
HEADERS = st.dictionaries(
    st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=4
)


@given(HEADERS, st.dictionaries(NAMES, ARRAYS, max_size=4))
def test_what_is_packed_is_what_is_unpacked(header, arrays):
    got_header, got = unpack(pack(header, arrays))
    assert got_header == header
    assert sorted(got) == sorted(arrays)
    for name, array in arrays.items():
        assert got[name].dtype.kind == array.dtype.kind
        np.testing.assert_array_equal(got[name], array)
        assert not got[name].flags.writeable


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3)))
def test_equal_arrays_are_equal_bytes(array):
    one = pack({"b": 1, "a": 2}, {"x": array, "y": array})
    other = pack({"a": 2, "b": 1}, {"y": array.copy(), "x": np.asfortranarray(array).astype(">f8")})
    assert one == other


def test_the_bytes_are_the_same_tomorrow():
    """Golden: a change of these bytes would make every stored digest a stranger."""
    content = pack(
        {"kind": "problem", "countries": ["AT", "BE"]},
        {"a": np.array([1.5, -2.0]), "flag": np.array(["F", "C"])},
    )
    assert digest_of(content) == "e4893085ec0a49d07b46c3027e76aaf8e4314efe46ddd0f0f890867eb60a7216"


def test_numpy_itself_can_read_it():
    with np.load(io.BytesIO(pack({}, {"a": np.arange(6).reshape(2, 3)}))) as archive:
        np.testing.assert_array_equal(archive["a"], [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    "array", [np.array([object()]), np.array([{}, 1], dtype=object), np.zeros(2, dtype=[("a", "f8")])]
)
def test_no_objects_go_in(array):
    with pytest.raises(TypeError, match="array a: cannot pack dtype"):
        pack({}, {"a": array})


def test_no_pickle_comes_out():
    trojan = io.BytesIO()
    np.savez(trojan, a=np.array([object()], dtype=object))
    with pytest.raises((ValueError, KeyError)):
        unpack(trojan.getvalue())
    only_pickle = io.BytesIO()
    with ZipFile(trojan) as source, ZipFile(only_pickle, "w") as target:
        target.writestr("header.json", "{}")
        target.writestr("a.npy", source.read("a.npy"))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpack(only_pickle.getvalue())
