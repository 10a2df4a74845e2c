#!/usr/bin/env python3
"""Makes the bundled fonts from published packages. See README.md beside this file."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from fontTools import merge, subset
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, newTable

FONTS = Path(__file__).resolve().parent
ICONS = FONTS.parent / "icons"
ICON_TABLE = FONTS.parent.parent / "src" / "layout" / "icon.rs"

SYMBOL_RANGES = [
    (0x2070, 0x209C), (0x2100, 0x214F), (0x2150, 0x218B), (0x2190, 0x23FF), (0x2400, 0x2426),
    (0x2440, 0x244A), (0x2460, 0x24FF), (0x25A0, 0x27FF), (0x2800, 0x28FF), (0x2B00, 0x2BFF),
]
# Merging keeps only what a drawn glyph needs; symbols are neither kerned nor substituted.
BARE = {"GlyphOrder", "head", "hhea", "maxp", "OS/2", "hmtx", "cmap", "loca", "glyf", "name", "post"}


def npm(package, work):
    """Unpacks an npm package and returns its folder."""
    folder = work / package.replace("/", "-")
    folder.mkdir()
    out = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True)
    subprocess.run(["tar", "xzf", out.stdout.strip().splitlines()[-1]], cwd=folder, check=True)
    return folder / "package"


def keep_only(font, code_points):
    options = subset.Options(layout_features=[], name_IDs=["*"], glyph_names=False, hinting=False, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=code_points)
    subsetter.subset(font)


def rename(font, family):
    postscript = family.replace(" ", "")
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = family
        elif record.nameID in (3, 6, 25):
            record.string = postscript


def inter(work):
    folder = npm("inter-ui@4.1.1", work) / "variable"
    for name in ("InterVariable", "InterVariable-Italic"):
        font = TTFont(folder / f"{name}.woff2")
        font.flavor = None
        font.save(FONTS / f"{name}.ttf")


def figures():
    """Maps digits and signs to the glyphs that `tnum` would choose."""
    font = TTFont(FONTS / "InterVariable.ttf")
    tabular = {}
    gsub = font["GSUB"].table
    for record in gsub.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for index in record.Feature.LookupListIndex:
                for table in gsub.LookupList.Lookup[index].SubTable:
                    tabular.update(getattr(table, "ExtSubTable", table).mapping)
    wanted = [ord(c) for c in "0123456789+\u2212"]
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap.update({c: tabular.get(table.cmap[c], table.cmap[c]) for c in wanted if c in table.cmap})
    rename(font, "Inter Tabular Figures")
    keep_only(font, wanted)
    for tag in ("GSUB", "GPOS", "GDEF"):
        del font[tag]
    font.save(FONTS / "InterFigures.ttf")


def mono(work):
    subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", work, "fontpkg-jetbrains-mono==2.211"], check=True)
    with zipfile.ZipFile(next(work.glob("fontpkg*.whl"))) as wheel:
        for source, name in (("JetBrainsMono[wght].ttf", "JetBrainsMono.ttf"), ("JetBrainsMono-Italic[wght].ttf", "JetBrainsMono-Italic.ttf")):
            (FONTS / name).write_bytes(wheel.read(f"fontpkg_jetbrains_mono/files/{source}"))


def to_quadratic(font):
    """Turns CFF outlines into TrueType ones, so that all parts can be merged."""
    glyph_set, order = font.getGlyphSet(), font.getGlyphOrder()
    glyphs = {}
    for name in order:
        pen = TTGlyphPen(glyph_set)
        glyph_set[name].draw(Cu2QuPen(pen, 0.5, reverse_direction=True))
        glyphs[name] = pen.glyph()
    font["loca"], font["glyf"] = newTable("loca"), newTable("glyf")
    font["glyf"].glyphOrder, font["glyf"].glyphs = order, glyphs
    for name in order:
        glyphs[name].recalcBounds(font["glyf"])
        font["hmtx"][name] = (font["hmtx"][name][0], getattr(glyphs[name], "xMin", 0))
    maxp = font["maxp"] = newTable("maxp")
    maxp.tableVersion, maxp.numGlyphs, maxp.maxZones = 0x00010000, len(order), 1
    for field in ("TwilightPoints", "Storage", "FunctionDefs", "InstructionDefs", "StackElements", "SizeOfInstructions",
                  "Points", "Contours", "CompositePoints", "CompositeContours", "ComponentDepth", "ComponentElements"):
        setattr(maxp, f"max{field}", 0)
    font["post"].formatType = 3.0
    font["head"].glyphDataFormat = 0
    font.sfntVersion = "\x00\x01\x00\x00"
    del font["CFF "]


def symbols(work):
    missing = {c for first, last in SYMBOL_RANGES for c in range(first, last + 1)}
    parts = []
    for package in ("noto-sans-symbols-2", "noto-sans-symbols", "noto-sans-math"):
        folder = npm(f"@fontsource/{package}@5.3.0", work) / "files"
        for path in sorted(folder.glob("*-400-normal.woff2")):
            font = TTFont(path)
            font.flavor = None
            found = missing & set(font.getBestCmap())
            if len(found) < 3:
                continue
            missing -= found
            keep_only(font, found)
            if "CFF " in font:
                to_quadratic(font)
            for tag in set(font.keys()) - BARE:
                del font[tag]
            parts.append(work / f"part{len(parts)}.ttf")
            font.save(parts[-1])
    merged = merge.Merger().merge([str(p) for p in parts])
    rename(merged, "Letterpress Symbols")
    merged.save(FONTS / "Symbols.ttf")


def icons(work):
    """Keeps the icons that `icon.rs` names; a constant's name is the icon's name in capitals."""
    folder = npm("@phosphor-icons/web@2.1.2", work) / "src" / "regular"
    selection = json.loads((folder / "selection.json").read_text())
    code = {name: icon["properties"]["code"] for icon in selection["icons"] for name in icon["properties"]["name"].split(", ")}
    wanted = []
    for line in ICON_TABLE.read_text().splitlines():
        if line.startswith("pub const ") and ": char" in line:
            name = line.split()[2].rstrip(":").lower().replace("_", "-")
            assert f"\\u{{{code[name]:x}}}" in line, f"{name} is {code[name]:x}"
            wanted.append(code[name])
    font = TTFont(folder / "Phosphor.ttf")
    del font["GSUB"]
    keep_only(font, wanted)
    font.save(ICONS / "phosphor.ttf")


if __name__ == "__main__":
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"  # The same packages give the same bytes.
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        inter(work)
        figures()
        mono(work)
        symbols(work)
        icons(work)
