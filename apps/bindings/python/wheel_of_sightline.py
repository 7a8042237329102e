"""Makes the wheel for pip (PEP 517): a copy of the package, which needs no compiler and no tool to be downloaded."""

import base64
import hashlib
import pathlib
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def _project(key):
    return re.search(rf'^{key} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.MULTILINE)[1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _project("version")
    info = f"sightline-{version}.dist-info"
    files = {
        f"sightline/{path.name}": path.read_bytes()
        for path in sorted((HERE / "sightline").iterdir())
        if path.suffix in (".py", ".typed") or path.name.startswith("libsightline.so")
    }
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: sightline\nVersion: {version}\nSummary: {_project('description')}\n"
        f"License: Apache-2.0\nRequires-Python: {_project('requires-python')}\nRequires-Dist: numpy\n"
    ).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: sightline\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"sightline-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return wheel
