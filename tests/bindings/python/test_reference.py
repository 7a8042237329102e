"""The reference pages that tools/reference makes of sightline.h and of the docstrings."""

import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import sightline

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools/reference"
HEADER = (ROOT / "apps/bindings/c/sightline.h").read_text()


def load_tool():
    loader = importlib.machinery.SourceFileLoader("reference", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reference", loader))
    loader.exec_module(module)
    return module


class Reference(unittest.TestCase):
    def setUp(self):
        self.tool = load_tool()

    def test_pages_are_up_to_date(self):
        done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_function_of_the_library_is_in_it(self):
        page = self.tool.c_page(HEADER)
        functions = re.findall(r"\b(sl_[a-z_]+)\(", (ROOT / "tests/bindings/c/abi.c").read_text())
        self.assertGreater(len(functions), 30)
        for name in functions:
            self.assertRegex(page, rf"### `{name}`\n\n```c\n.*\b{name}\(.*;\n```\n\n\S")

    def test_every_name_of_the_package_is_in_it(self):
        page = self.tool.python_page(ROOT / "apps/bindings/python/sightline")
        for name in sightline.__all__:
            self.assertRegex(page, rf"\n##+ `{name}`\n")
            self.assertIn(f"[`{name}`](#{name.lower()})", page)
            kind = getattr(sightline, name)
            for member in vars(kind) if isinstance(kind, type) and name[-5:] != "Error" else ():
                if not member.startswith("_") and callable(getattr(kind, member)):
                    self.assertIn(f"\n### `{name.lower()}.{member}`\n", page)

    def test_missing_descriptions_are_errors(self):
        comment = "/* Version of Sightline, such as \"0.1.0\". */\n"
        self.assertIn(comment, HEADER)
        with self.assertRaisesRegex(self.tool.Undocumented, "sl_version"):
            self.tool.c_page(HEADER.replace(comment, ""))
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "sightline"
            shutil.copytree(ROOT / "apps/bindings/python/sightline", package)
            source = (package / "_detector.py").read_text()
            docstring = '"""Labels by index: ``{0: "person"}``."""'
            self.assertIn(docstring, source)
            (package / "_detector.py").write_text(source.replace(docstring, ""))
            with self.assertRaisesRegex(self.tool.Undocumented, "detector.names"):
                self.tool.python_page(package)


if __name__ == "__main__":
    unittest.main()
