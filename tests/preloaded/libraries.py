"""The models' libraries, loaded once for the workers of many tests."""

from opcheck.sandbox.parent.preloaded import Template

LIBRARIES = (
    "transformers", "diffusers", "timm", "torchvision", "ultralytics",
    # what these import once a model is built, most of the time that it takes
    "transformers.models.bert.modeling_bert", "diffusers.pipelines.pipeline_utils",
    "diffusers.models.unets.unet_2d_condition", "ultralytics.nn.tasks",
)  # fmt: skip


def template() -> Template:
    """A process to be copied that has them; it is started when the first worker is."""
    return Template(LIBRARIES)
