"""Imported by a process that is copied: has a worker of opcheck with the models' libraries."""

from opcheck.model.request import ModelSpec
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.sandbox.parent.preloaded import Template, copied_from
from opcheck.sandbox.parent.process import environment

LOADED = Template((
    "transformers", "diffusers", "timm", "torchvision", "ultralytics",
    # what these import once a model is built, most of the time that it takes
    "transformers.models.bert.modeling_bert", "diffusers.pipelines.pipeline_utils",
    "diffusers.models.unets.unet_2d_condition", "ultralytics.nn.tasks",
))  # fmt: skip
KEPT = copied_from(LOADED)
"""Open until the process ends: no copy may close what the others have."""
KEPT.__enter__()
LOADED.load(environment(WorkRequest(ModelSpec(""), ((DeviceWork(""),),))))
