"""Write a saved report in other formats.

The model is not run again: the report that opcheck scan or opcheck plan wrote as JSON has all
that any format shows. Several are written at once, as in --format sarif=a.sarif
--format junit=b.xml.
"""

PURPOSE = "gate"
