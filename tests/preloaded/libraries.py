"""The models' libraries, and what only some runs import, loaded once for the workers of tests."""

from opcheck.sandbox.child.late_imports import BY_OPTIMIZERS
from opcheck.sandbox.parent.preloaded import Template

OF_RUNS = (
    BY_OPTIMIZERS, "opcheck.rewrite.planner", "opcheck.rewrite.record",
    "opcheck.rewrite.structural.line_proof", "opcheck.rewrite.structural.suggest",
)  # fmt: skip
"""For training steps and plans: most of the time that a small model takes."""

LIBRARIES = (
    "transformers", "diffusers", "timm", "torchvision", "ultralytics",
    # what these import once a model is built, most of the time that it takes
    "transformers.models.bert.modeling_bert", "diffusers.pipelines.pipeline_utils",
    "diffusers.models.unets.unet_2d_condition", "ultralytics.nn.tasks",
)  # fmt: skip


def template() -> Template:
    """A process to be copied that has them; it is started when the first worker is."""
    return Template((*OF_RUNS, *LIBRARIES))
