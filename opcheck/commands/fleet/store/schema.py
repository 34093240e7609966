"""The tables of a store; docs/fleet.md tells other programs what they hold."""

FORMAT = "2"
"""Of the tables: a store of another one is refused."""

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE models (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  source TEXT NOT NULL,
  options TEXT NOT NULL,
  opcheck TEXT NOT NULL,
  torch TEXT NOT NULL,
  kind TEXT NOT NULL,
  digest TEXT NOT NULL,
  ending TEXT NOT NULL,
  reason TEXT NOT NULL,
  hint TEXT NOT NULL,
  timeout REAL,
  memory REAL,
  calls INTEGER NOT NULL,
  operators INTEGER NOT NULL,
  gaps TEXT NOT NULL,
  files TEXT NOT NULL,
  target INTEGER REFERENCES targets,
  UNIQUE (key, version)
);

CREATE TABLE traces (
  model INTEGER NOT NULL REFERENCES models,
  device_type TEXT NOT NULL,
  casts TEXT NOT NULL,
  same_as TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (model, device_type, casts)
) WITHOUT ROWID;

CREATE TABLE targets (
  id INTEGER PRIMARY KEY,
  target TEXT NOT NULL,
  vendor TEXT NOT NULL,
  chip TEXT NOT NULL,
  sdk TEXT NOT NULL,
  torch TEXT NOT NULL,
  device_type TEXT NOT NULL,
  database_digest TEXT NOT NULL,
  database_date TEXT NOT NULL,
  casts TEXT NOT NULL,
  UNIQUE (target, database_digest, casts)
);

CREATE TABLE results (
  id INTEGER PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models,
  target INTEGER NOT NULL REFERENCES targets,
  verdict TEXT NOT NULL,
  runs INTEGER,
  support_rate REAL,
  native INTEGER NOT NULL,
  decomposed INTEGER NOT NULL,
  fallback INTEGER NOT NULL,
  unsupported INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  native_calls INTEGER NOT NULL,
  decomposed_calls INTEGER NOT NULL,
  fallback_calls INTEGER NOT NULL,
  unsupported_calls INTEGER NOT NULL,
  unknown_calls INTEGER NOT NULL,
  islands INTEGER NOT NULL,
  fallback_bytes INTEGER NOT NULL,
  UNIQUE (model, target)
);

CREATE TABLE causes (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  cause TEXT NOT NULL,
  code TEXT NOT NULL,
  verdict TEXT NOT NULL,
  confidence TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (op, cause, code, verdict, confidence, text)
);

CREATE TABLE blockers (
  result INTEGER NOT NULL REFERENCES results,
  place INTEGER NOT NULL,
  cause INTEGER NOT NULL REFERENCES causes,
  calls INTEGER NOT NULL,
  called TEXT NOT NULL,
  module TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  PRIMARY KEY (result, place)
) WITHOUT ROWID;

CREATE INDEX blockers_of_a_cause ON blockers (cause);

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  manifest TEXT NOT NULL,
  digest TEXT NOT NULL,
  begun TEXT NOT NULL,
  ended TEXT NOT NULL,
  opcheck TEXT NOT NULL,
  torch TEXT NOT NULL,
  engine TEXT NOT NULL
);

CREATE TABLE run_targets (
  run INTEGER NOT NULL REFERENCES runs,
  position INTEGER NOT NULL,
  target INTEGER NOT NULL REFERENCES targets,
  PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE TABLE run_models (
  run INTEGER NOT NULL REFERENCES runs,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  model INTEGER REFERENCES models,
  seconds REAL,
  PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE VIEW answers AS
SELECT run_models.run, run_models.position, run_models.name, run_models.source,
  models.id AS model, models.kind, models.digest, models.ending, models.reason, models.hint,
  models.calls, models.operators, run_models.seconds,
  run_targets.position AS target_position, targets.target, targets.vendor, targets.chip,
  targets.sdk, targets.torch, targets.database_digest, targets.database_date,
  results.id AS result, results.verdict, results.runs, results.support_rate,
  results.native, results.decomposed, results.fallback, results.unsupported, results.unknown,
  results.native_calls, results.decomposed_calls, results.fallback_calls,
  results.unsupported_calls, results.unknown_calls, results.islands, results.fallback_bytes
FROM run_models
JOIN models ON models.id = run_models.model
JOIN run_targets ON run_targets.run = run_models.run
  AND run_targets.target = COALESCE(models.target, run_targets.target)
JOIN targets ON targets.id = run_targets.target
LEFT JOIN results ON results.model = models.id AND results.target = targets.id;

CREATE VIEW problems AS
SELECT answers.run, answers.position, answers.name, answers.source, answers.ending,
  answers.target_position, answers.target, answers.vendor, answers.verdict AS worst, answers.runs,
  blockers.place, causes.id AS cause_id, causes.op, causes.cause, causes.code, causes.verdict,
  causes.confidence, causes.text, blockers.calls, blockers.called, blockers.module,
  blockers.file, blockers.line
FROM answers
JOIN blockers ON blockers.result = answers.result
JOIN causes ON causes.id = blockers.cause;
"""
