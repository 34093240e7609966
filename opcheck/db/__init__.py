"""The support database: vendor data under ``compat_db`` read into matrices."""
