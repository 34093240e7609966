"""Configs that libraries build models of: transformers, diffusers and ultralytics look names up."""

import json
import os
from typing import Any

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family, Made, write
from tests.hostile.place import Place
from tests.hostile.valid import weights

HF = Corpus("transformers config", "config.json", Family.MODEL)
BERT = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "vocab_size": 32,
    "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
    "max_position_embeddings": 16, "torch_dtype": "float32", "hidden_act": "gelu",
}  # fmt: skip


def _folder(place: Place, **changes: Any) -> Made:
    """A folder as from_pretrained takes it, with a module and weights that run code beside."""
    folder = place.project / "net"
    write(folder / "config.json", json.dumps({**BERT, **changes}))
    for name in ("modeling_evil.py", "configuration_evil.py", "__init__.py"):
        write(folder / name, payloads.python(place) + "\nclass Evil: pass\n")
    for name in ("pytorch_model.bin", "model.safetensors", "training_args.bin"):
        write(folder / name, payloads.pickled(payloads.shell(place)))
    return Made("hf:net")


_CONFIGS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("remote_code", "auto_map names classes in files beside the config, for trust_remote_code.",
     {"auto_map": {"AutoModel": "modeling_evil.Evil", "AutoConfig": "configuration_evil.Evil"},
      "model_type": "evil", "architectures": ["Evil"], "trust_remote_code": True}),
    ("remote_code_of_a_known_type", "The same beside a type that the library has.",
     {"auto_map": {"AutoModel": "modeling_evil.Evil"}, "trust_remote_code": True}),
    ("remote_code_elsewhere", "The same with a repository before the name.",
     {"auto_map": {"AutoModel": "../net--modeling_evil.Evil"}, "trust_remote_code": True}),
    ("architecture_of_a_module", "architectures names a class of the library, by getattr.",
     {"architectures": ["os.system"]}),
    ("architecture_that_is_a_function", "Another thing that the library has.",
     {"architectures": ["logging"]}),
    ("architecture_dunder", "An attribute of the module.", {"architectures": ["__builtins__"]}),
    ("architecture_that_is_not_a_model", "A class of the library that runs.",
     {"architectures": ["Trainer"]}),
    ("architecture_that_downloads", "A pipeline.", {"architectures": ["pipeline"]}),
    ("type_that_leads_out", "model_type is the name of a module.", {"model_type": "../../net"}),
    ("type_of_a_module", "The same of another package.", {"model_type": "..hostile_import"}),
    ("activation_of_code", "hidden_act is looked up in a table.",
     {"hidden_act": "__import__('os').system('false')"}),
    ("attention_from_the_hub", "_attn_implementation may name a repository of kernels.",
     {"_attn_implementation": "hostile/kernel", "attn_implementation": "hostile/kernel"}),
    ("attention_from_a_folder", "The same with a path.",
     {"_attn_implementation": "./net", "_attn_implementation_internal": "./net"}),
    ("experts_from_the_hub", "So may other implementations.",
     {"_experts_implementation": "hostile/kernel", "use_kernels": True}),
    ("quantization_of_a_module", "quantization_config picks a library, which is imported.",
     {"quantization_config": {"quant_method": "hostile_import", "modules_to_not_convert": None}}),
    ("quantization_of_a_library", "One that the library knows, with a path.",
     {"quantization_config": {"quant_method": "gptq", "bits": 4, "dataset": "/dev/zero",
                              "tokenizer": "../home/.ssh/id_rsa"}}),
    ("dtype_of_a_module", "torch_dtype is looked up in torch.", {"torch_dtype": "os.system"}),
    ("dtype_that_is_a_function", "The same with what torch has.", {"torch_dtype": "save"}),
    ("dtype_that_is_a_dunder", "The same with a dunder.", {"torch_dtype": "__builtins__"}),
    ("a_pattern_without_end", "Modules named by a pattern that is matched for ever.",
     {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True,
                              "llm_int8_skip_modules": [r"([a-z0-9_.]+)+!"]}}),
    ("a_path_in_the_config", "_name_or_path is where weights are looked for.",
     {"_name_or_path": "../home/.ssh/id_rsa", "base_model_name_or_path": "/dev/zero"}),
    ("a_backbone_elsewhere", "A backbone is built by name, of timm or of the hub.",
     {"model_type": "table-transformer", "architectures": ["TableTransformerModel"],
      "use_timm_backbone": True, "backbone": "hf-hub:hostile/net",
      "use_pretrained_backbone": True}),
    ("an_encoder_elsewhere", "A config within the config, with code of its own.",
     {"model_type": "encoder-decoder", "architectures": ["EncoderDecoderModel"],
      "encoder": {**BERT, "auto_map": {"AutoModel": "modeling_evil.Evil"}}, "decoder": BERT}),
    ("sizes_without_bounds", "Layers of 2**62.", {"hidden_size": 2**62, "vocab_size": 2**62}),
    ("layers_without_end", "A billion layers.", {"num_hidden_layers": 10**9}),
    ("sizes_below_nothing", "A negative one.", {"hidden_size": -8}),
    ("heads_of_nothing", "A division by zero.", {"num_attention_heads": 0}),
    ("sizes_that_are_no_numbers", "Texts and lists for numbers.",
     {"hidden_size": "8" * 10_000, "vocab_size": [], "num_hidden_layers": float("nan")}),
    ("attributes_of_the_class", "Keys of a config become attributes.",
     {"__class__": "x", "__dict__": {}, "to_dict": 1, "__init__": None, "attribute_map": {}}),
    ("a_method_of_copying", "Another name for what copies an object.",
     {"attribute_map": "__reduce_ex__"}),
    ("labels_with_escapes", "Labels are texts.",
     {"id2label": {"0": "\x1b]0;x\x07<script>hostile()</script>"}}),
    ("adapters", "PEFT looks for adapters beside the config.",
     {"peft_type": "LORA", "adapter_name_or_path": "../net"}),
)  # fmt: skip
for _name, _about, _changes in _CONFIGS:

    def _one(place: Place, changes: dict[str, Any] = _changes) -> Made:
        return _folder(place, **changes)

    _one.__name__, _one.__doc__ = _name, _about
    _runs = {"remote_code_of_a_known_type", "remote_code_elsewhere", "a_path_in_the_config",
             "labels_with_escapes", "adapters", "attention_from_the_hub", "attention_from_a_folder",
             "experts_from_the_hub", "quantization_of_a_library", "quantization_of_a_module",
             "attributes_of_the_class", "a_method_of_copying", "an_encoder_elsewhere",
             "a_backbone_elsewhere",
             "architecture_of_a_module", "architecture_dunder", "architecture_that_is_a_function",
             "architecture_that_is_not_a_model", "architecture_that_downloads",
             "dtype_of_a_module", "dtype_that_is_a_function", "dtype_that_is_a_dunder"}  # fmt: skip
    HF.case(runnable=_name in _runs, endless=_name == "layers_without_end")(_one)


@HF.case(near=False)
def a_pipe(place: Place) -> Made:
    """config.json is a named pipe."""
    (place.project / "net").mkdir()
    os.mkfifo(place.project / "net" / "config.json")
    return Made("hf:net")


@HF.case(near=False)
def a_link_to_zeros(place: Place) -> Made:
    """config.json is a link to a device that has no end."""
    (place.project / "net").mkdir()
    (place.project / "net" / "config.json").symlink_to("/dev/zero")
    return Made("hf:net")


@HF.case(near=False, opens_key=True)
def a_link_to_the_key(place: Place) -> Made:
    """config.json is a link to the private key: a message may not quote it."""
    (place.project / "net").mkdir()
    (place.project / "net" / "config.json").symlink_to(place.secret)
    return Made("hf:net")


@HF.case(near=False)
def nested(place: Place) -> Made:
    """Brackets, a hundred thousand deep."""
    write(place.project / "net" / "config.json", '{"a":' * 100_000 + "1" + "}" * 100_000)
    return Made("hf:net")


DIFFUSERS = Corpus("diffusers", "model_index.json", Family.MODEL)
UNET = {
    "_class_name": "UNet2DModel", "_diffusers_version": "0.32.0", "sample_size": 8,
    "in_channels": 3, "out_channels": 3, "layers_per_block": 1, "block_out_channels": [8, 8],
    "norm_num_groups": 4, "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
    "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
}  # fmt: skip


def _pipeline(place: Place, index: dict[str, Any], unet: dict[str, Any]) -> Made:
    folder = place.project / "pipe"
    whole = {"_class_name": "DDPMPipeline", "_diffusers_version": "0.32.0",
             "unet": ["diffusers", "UNet2DModel"],
             "scheduler": ["diffusers", "DDPMScheduler"]}  # fmt: skip
    write(folder / "model_index.json", json.dumps({**whole, **index}))
    write(folder / "unet" / "config.json", json.dumps({**UNET, **unet}))
    write(folder / "scheduler" / "scheduler_config.json", '{"_class_name": "DDPMScheduler"}')
    for name in ("pipeline.py", "unet/evil.py", "evil/__init__.py"):
        write(folder / name, payloads.python(place) + "\nclass Evil: pass\n")
    write(folder / "unet" / "diffusion_pytorch_model.bin",
          payloads.pickled(payloads.shell(place)))  # fmt: skip
    return Made("pipe")


_PIPELINES: tuple[tuple[str, str, dict[str, Any], dict[str, Any]], ...] = (
    ("pipeline_of_a_file", "The class of a pipeline may be in a file of the folder.",
     {"_class_name": ["pipeline", "Evil"]}, {}),
    ("part_of_a_file", "So may a part's: library and class, where the library is a module.",
     {"unet": ["evil", "Evil"]}, {}),
    ("part_of_a_module", "The library is imported by name.", {"unet": ["os", "system"]}, {}),
    ("part_of_a_module_beside", "The same of one in the working directory.",
     {"unet": ["hostile_import", "Evil"]}, {}),
    ("part_of_a_function", "The class is any attribute of the library.",
     {"unet": ["diffusers", "logging"]}, {}),
    ("part_of_dunders", "Another attribute.", {"unet": ["diffusers", "__builtins__"]}, {}),
    ("part_that_leads_out", "A part is a folder by its name.",
     {"../../home/.ssh": ["diffusers", "UNet2DModel"], "unet": None}, {}),
    ("part_that_is_a_list", "A part that is no pair.", {"unet": [["a"], {"b": 1}, 3]}, {}),
    ("class_of_a_module", "The class of a model is looked up in the library.",
     {}, {"_class_name": "os.system"}),
    ("class_that_is_a_function", "The same with what the library has.",
     {}, {"_class_name": "load_textual_inversion"}),
    ("class_that_is_a_pipeline", "The same with a class that downloads.",
     {}, {"_class_name": "DiffusionPipeline"}),
    ("block_of_a_module", "Blocks are classes by name.",
     {}, {"down_block_types": ["os.system", "hostile_import"]}),
    ("activation_of_code", "Activations are functions by name.",
     {}, {"act_fn": "__import__('os').system('false')"}),
    ("blocks_without_end", "A million layers.", {}, {"layers_per_block": 10**7}),
    ("sizes_without_bounds", "Channels of 2**62.", {}, {"block_out_channels": [2**62, 2**62]}),
    ("groups_of_nothing", "A division by zero.", {}, {"norm_num_groups": 0}),
    ("weights_elsewhere", "Names of files of weights.",
     {}, {"_name_or_path": "../home/.ssh/id_rsa", "weights_name": "../../checkpoint.pt"}),
    ("custom_attention", "A processor of attention by name, or of the hub.",
     {}, {"attention_type": "hostile/kernel", "_attn_implementation": "hostile/kernel"}),
)  # fmt: skip
for _name, _about, _index, _unet in _PIPELINES:

    def _two(place: Place, index: dict[str, Any] = _index, unet: dict[str, Any] = _unet) -> Made:
        return _pipeline(place, index, unet)

    _two.__name__, _two.__doc__ = _name, _about
    DIFFUSERS.case(runnable=_name.startswith(("pipeline_", "part_", "weights_", "custom_")),
                   endless=_name == "blocks_without_end")(_two)  # fmt: skip


YOLO = Corpus("ultralytics YAML", "net.yaml", Family.MODEL)
_BACKBONE = ("[-1, 1, Conv, [16, 3, 2]]", "[-1, 1, C2f, [16, true]]")


def _yolo(*backbone: str, top: str = "nc: 4", head: str = "[-1, 1, Classify, [nc]]") -> str:
    rows = "".join(f"  - {row}\n" for row in (backbone or _BACKBONE))
    return f"{top}\nbackbone:\n{rows}head:\n  - {head}\n"


def _quoted(text: str) -> str:
    return json.dumps(text)


_LAYERS: tuple[tuple[str, str, Any], ...] = (
    ("activation", "activation is evaluated.",
     lambda place: {"top": f"nc: 4\nactivation: {payloads.expression(place)}"}),
    ("activation_dressed_up", "The same in the form of what is allowed.",
     lambda place: {"top": "nc: 4\nactivation: "
                    f"torch.nn.LeakyReLU({payloads.expression(place)} or 0.1)"}),
    ("activation_that_ends", "The same, seen without anything written.",
     lambda place: {"top": f"nc: 4\nactivation: {payloads.leaving()}"}),
    ("activation_chained", "The same with attributes.",
     lambda place: {"top": 'nc: 4\nactivation: nn.SiLU().forward.__globals__["torch"].os.system('
                    f'"{payloads.shell(place)}")'}),
    ("torch_safe_load", "A layer is any name of the library's module: here one that unpickles.",
     lambda place: {"backbone": ("[-1, 1, torch_safe_load, [bait/payload.pt]]",)}),
    ("load_checkpoint", "Another such.",
     lambda place: {"backbone": ("[-1, 1, load_checkpoint, [bait/payload.pt]]",)}),
    ("attempt_download_asset", "One that downloads.",
     lambda place: {"backbone": ("[-1, 1, attempt_download_asset, [bait/payload.pt]]",)}),
    ("yaml_model_load", "One that reads a file.",
     lambda place: {"backbone": ("[-1, 1, yaml_model_load, [../home/.ssh/id_rsa]]",)}),
    ("builtins", "globals() have builtins.",
     lambda place: {"backbone": (f"[-1, 1, __builtins__, [{_quoted('eval')}]]",)}),
    ("a_module", "And modules.",
     lambda place: {"backbone": (f"[-1, 1, torch, [{_quoted('x')}]]",)}),
    ("pickle_of_the_library", "And pickle.",
     lambda place: {"backbone": (f"[-1, 1, pickle, [{_quoted('x')}]]",)}),
    ("layer_of_torch", "A layer that begins with nn. is any attribute of torch.nn.",
     lambda place: {"backbone": ("[-1, 1, nn.Module.__init_subclass__, [1]]",)}),
    ("function_of_torch", "The same with what is no layer.",
     lambda place: {"backbone": ("[-1, 1, nn.modules, [1]]",)}),
    ("layer_of_torchvision", "One that begins with torchvision.ops. imports that.",
     lambda place: {"backbone": ("[-1, 1, torchvision.ops.__builtins__, [1]]",)}),
    ("layer_that_downloads", "TorchVision is a layer: it loads a model by name, with weights.",
     lambda place: {"backbone": (
         "[-1, 1, TorchVision, [512, resnet18, DEFAULT, true, 2, true]]",)}),
    ("layer_that_is_a_model", "A whole model as a layer: of a file of weights.",
     lambda place: {"backbone": ("[-1, 1, YOLO, [bait/payload.pt]]",)}),
    ("arguments", "Arguments that are texts are evaluated as literals or as names.",
     lambda place: {"backbone": (
         f"[-1, 1, Conv, [{_quoted(payloads.expression(place))}, 3, 2]]",)}),
    ("arguments_of_locals", "A name of the function's own variables is one's value.",
     lambda place: {"backbone": ('[-1, 1, Conv, ["d", "save", "layers"]]',)}),
    ("an_activation_argument", "act is an argument of layers.",
     lambda place: {"backbone": ("[-1, 1, Conv, [16, 3, 2, null, 1, 1, "
                                 f"{_quoted(payloads.expression(place))}]]",)}),
    ("a_scale_that_leads_out", "Scales are a mapping, picked by the name of the file.",
     lambda place: {"top": "nc: 4\nscales:\n  n: [a, b, c]\n"}),
    ("repeats_without_end", "A layer, a billion times.",
     lambda place: {"backbone": ("[-1, 1000000000, Conv, [16, 3, 2]]",)}),
    ("widths_without_bounds", "Channels of 2**62.",
     lambda place: {"backbone": ("[-1, 1, Conv, [4611686018427387904, 3, 2]]",)}),
    ("from_a_later_layer", "A layer whose input comes later.",
     lambda place: {"backbone": ("[7, 1, Conv, [16, 3, 2]]",)}),
    ("from_itself", "A layer whose input is its own output.",
     lambda place: {"backbone": ("[0, 1, Conv, [16, 3, 2]]", "[1, 1, Conv, [16, 3, 2]]")}),
    ("a_tag_of_python", "YAML's tags make objects of Python.",
     lambda place: {"top": f"nc: !!python/object/apply:os.system ['{payloads.shell(place)}']"}),
    ("a_class_of_another_kind", "nc that is a text.",
     lambda place: {"top": f"nc: {_quoted(payloads.expression(place))}"}),
    ("aliases_that_grow", "Aliases of aliases.",
     lambda place: {"top": "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
         f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)) + "nc: 4"}),
)  # fmt: skip
for _name, _about, _parts in _LAYERS:

    def _three(place: Place, parts: Any = _parts) -> Made:
        given = parts(place)
        write(place.project / "net.yaml", _yolo(*given.pop("backbone", ()), **given))
        return Made("ultralytics:net.yaml")

    _three.__name__, _three.__doc__ = _name, _about
    YOLO.case(runnable=_name == "an_activation_argument",
              endless=_name == "repeats_without_end")(_three)  # fmt: skip


NAMES = Corpus("names of models", "none", Family.MODEL)
_SOURCES: tuple[tuple[str, str, str], ...] = (
    ("timm_that_leads_out", "timm's names are keys: paths are none.", "timm:../../bait/payload.py"),
    ("timm_of_the_hub", "hf-hub: loads from the hub.", "timm:hf-hub:hostile/net"),
    ("timm_of_a_folder", "local-dir: loads from a folder.", "timm:local-dir:bait"),
    ("timm_of_a_module", "An attribute.", "timm:__builtins__"),
    ("timm_with_options", "Options behind the name.",
     "timm:resnet18?pretrained=true&checkpoint_path=bait/payload.pt"),
    ("torchvision_of_a_module", "torchvision.models is a module.", "torchvision:os.system"),
    ("torchvision_of_a_dunder", "An attribute.", "torchvision:__builtins__"),
    ("torchvision_of_its_function", "A function that lists models.", "torchvision:list_models"),
    ("torchvision_of_weights", "A name of weights.", "torchvision:ResNet50_Weights.DEFAULT"),
    ("ultralytics_elsewhere", "A URL.", "ultralytics:http://127.0.0.1:{number}/yolo.yaml"),
    ("ultralytics_of_weights", "Weights for a YAML.", "ultralytics:bait/payload.pt"),
    ("ultralytics_of_a_stream", "A stream for a YAML.", "ultralytics:rtsp://127.0.0.1:{number}/"),
    ("a_repository", "A repository of the hub for a folder.", "hf:hostile/net"),
    ("a_url", "A URL for a file.", "http://127.0.0.1:{number}/model.pt2"),
    ("a_url_of_hf", "The same with a prefix.", "hf:http://127.0.0.1:{number}/config.json"),
    ("a_file_url", "A URL of a file.", "file://{secret}"),
    ("three_hundred_letters", "A name that no file system takes.", "{long}"),
    ("three_hundred_letters_of_python", "The same of a Python file.", "{long}.py:model"),
    ("three_hundred_letters_of_a_module", "The same of a name in one.", "net.py:{long}"),
    ("a_hundred_thousand_letters", "A text longer than a path.", "hf:{longer}"),
    ("a_name_with_escapes", "What a terminal obeys.", "\x1b]0;title\x07[red].pt2"),
    ("a_name_with_line_breaks", "Lines that a log or a workflow obeys.",
     "a\n::hostile::b\r::set-output name=a::b.pt2"),
    ("a_surrogate", "Bytes that are no UTF-8.", "\udcff\udcfe.pt2"),
    ("nothing", "No text at all.", ""),
    ("dots", "Folders.", ".."),
    ("the_root", "The root of the file system.", "/"),
    ("zeros", "A device that has no end.", "/dev/zero"),
    ("random_bytes", "Another.", "/dev/urandom"),
    ("a_terminal", "The terminal.", "/dev/tty"),
    ("stdin", "What is typed.", "/dev/stdin"),
    ("the_environment", "The environment, which is a file.", "/proc/self/environ"),
    ("the_memory", "The memory, which is one too.", "/proc/self/mem"),
    ("a_key", "A private key.", "{secret}"),
    ("a_key_of_hf", "The same with a prefix.", "hf:{secret}"),
    ("a_key_as_python", "The same as a module.", "{secret}:model"),
    ("an_option", "A text that is an option.", "--trust"),
    ("a_wildcard", "A pattern.", "timm:resnet10t*"),
    ("a_home", "The home by its short name.", "~/.ssh/id_rsa"),
    ("a_variable", "A variable of the shell.", "$HOME/.ssh/id_rsa"),
    ("a_command", "A command of the shell.", "$(sh bait/payload.sh)"),
    ("a_module_by_name", "A module to import.", "hostile_import:model"),
    ("prefix_of_a_prefix", "Prefixes in one another.", "hf:timm:torchvision:resnet18"),
)  # fmt: skip
for _name, _about, _source in _SOURCES:

    def _four(place: Place, source: str = _source) -> Made:
        known = {"number": place.number, "secret": place.secret, "long": "a" * 300,
                 "longer": "a" * 100_000}  # fmt: skip
        return Made(source.format(**known) if "{" in source else source)

    _four.__name__, _four.__doc__ = _name, _about
    NAMES.case(near=_source.startswith(("timm", "torchvision", "ultralytics", "hf")),
               runnable=_name == "a_wildcard",
               opens_key="key" in _name or "file_url" in _name,
               opens_bait=_name in ("ultralytics_of_weights", "dots"))(_four)  # fmt: skip


@NAMES.case(near=False)
def a_link_to_itself(place: Place) -> Made:
    """A link without an end."""
    (place.project / "loop.pt2").symlink_to("loop.pt2")
    return Made("loop.pt2")


@NAMES.case(near=False)
def a_folder_of_links(place: Place) -> Made:
    """A folder with a link to itself: a walk never ends."""
    (place.project / "net").mkdir()
    (place.project / "net" / "net").symlink_to(".")
    write(place.project / "net" / "model.pt2", weights())
    return Made("net")


@NAMES.case(near=False, limit=30)
def a_pipe_without_an_ending(place: Place) -> Made:
    """A named pipe without an ending."""
    os.mkfifo(place.project / "model")
    return Made("model")


@NAMES.case(near=False)
def a_socket(place: Place) -> Made:
    """A socket for a file."""
    return Made("canary.sock")


@NAMES.case(near=False)
def a_pipe_of_python(place: Place) -> Made:
    """A named pipe for a Python file."""
    os.mkfifo(place.project / "net.py")
    return Made("net.py:model")
