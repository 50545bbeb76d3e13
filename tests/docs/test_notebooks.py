"""Each notebook is what its page makes, and holds every example that runs on the page."""

from __future__ import annotations

import ast
import json

import pytest

from tests.docs.scripts import script

MADE = script("notebooks")


def code(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(("path", "text"), MADE.made().items(), ids=lambda value: getattr(value, "stem", "text"))
def test_a_notebook_is_what_its_page_makes(path, text):
    assert path.read_text(encoding="utf-8") == text, "run scripts/notebooks"
    cells = code(text)
    assert any(cell.startswith("!offrank") for cell in cells)
    for cell in cells:
        if not cell.startswith("!"):
            ast.parse(cell)


PAGE = """# Title

See [trust](../trust.md#x), [here](other.md) and [the web](https://example.org).
<!-- a remark -->

```console
$ offrank check a.parquet \\
    --quiet
said
$ echo $?
3
```

```python
x = 1
print(x)
```

```text
1
```

```sh
left as it is
```
"""


def test_what_becomes_of_a_page():
    assert MADE.cells(PAGE, "how-to/page") == [
        (
            "markdown",
            "# Title\n\nSee [trust](../trust.md#x), [here](../how-to/other.md) and [the web](https://example.org).",
        ),
        ("code", "!offrank check a.parquet \\\n    --quiet"),
        ("code", "x = 1\nprint(x)"),
        ("markdown", "```sh\nleft as it is\n```"),
    ]
