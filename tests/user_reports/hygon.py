"""What users of Hygon's DCUs met, as threads tell it, written down before any scan of it.

Nothing that the threads tell can be told of a program: what users met on DCUs is of kernels that
FlagGems or Torch-FL bring along, of how something was installed, or does not say which call it was.
"""

from tests.user_reports.report import LeftOut, Report, Why

QUERIES = (
    "Hygon DCU DTK pytorch operator error not supported",
    "海光 DCU 算子 报错 不支持 pytorch",
    "海光 DCU K100 Z100 结果 错误 精度 nan 推理",
    "FlagGems Hygon DCU native operator fails unsupported dtype wrong result",
    "DCU Z100L gfx906 gfx926 pytorch HIP error invalid device function or MIOpen convolution "
    "failed",
    "Torch-FL DCU Hygon native aten kernel libtorch_hip wrong or crash VMFault BW1000 K100_AI",
    "Hygon DCU LlamaFactory vllm torch bfloat16 fp16 scaled_dot_product_attention error "
    "hipblas rocblas",
    "Torch-FL [DCU] SDPA flash backend cannot execute DTK scaled_dot_product_attention math "
    "fallback Hygon",
    "海光 DCU 大模型 训练 微调 报错 dtk 显卡 torch flash attention fp16 bf16 不支持",
    "Hygon DCU MIOpen convolution backward conv3d depthwise crash or slow torch vision model",
    "FlagGems vendor/Hygon native torch baseline unsupported benchmark fails aten op Hygon issue",
    "曙光 DCU ROCm DTK torch.fft complex linalg rocsolver hipfft error Hygon",
    "sglang vllm Hygon DCU support fix torch op gfx936 gfx928 float8 not supported",
    "running pytorch on DCU slurm /public/home dtk-22.10 RuntimeError "
    "miopenStatusUnknownError conv2d params",
    "国产 DCU 卡 torch dtk 运行 RuntimeError HIP error 算子 反向 训练 gfx906 曙光 超算",
    "ROCm/MIOpen 3726 DCU K100_AI dtk-24.04.3 Forward Convolution cannot be executed due to "
    "incorrect params mmcv model traceback F.conv2d",
    '"DCU K100_AI" OR "DCU Z100" PyTorch collect env dtk error torch operator',
    "FlagGems [Hygon] fix test cases native torch limitation raises RuntimeError "
    "reference on CPU DCU",
    "vendor/Hygon label FlagGems issue operator not supported on hygon native torch "
    "reference fails",
    "[SiliconFlow] Native torch op not supported or fails on Hygon DCU benchmark baseline skip",
    "SiliconFlow FlagGems native baseline on Hygon fails or wrong: skipped on hygon "
    "because native torch returns / raises",
    "Optimize operator for Hygon BW1000: native ATen kernel on DCU fails, unsupported "
    "dtype, MIOpen not supported bf16 half error",
    "KernelGen operator tested on Nvidia Tianshu Muxi Hygon: Hygon does not support "
    "float64 / complex / native falls back",
    "Fix internal: benchmark_fail or accuracy_fail on hygon native torch baseline DCU root cause",
    "KernelGen Multi-backend Testing table Hygon FAIL RuntimeError not implemented "
    "native PyTorch reference on Hygon",
    "FlagGems PR benchmark Hygon skipped native hipblas hipsolver rocsolver linalg "
    "unsupported BW1000",
    "Hygon bincount hang torch.bincount DCU sglang-plugin-FL fused_moe reference eager prefill",
    "sglang-plugin-FL hygon DCU native torch op hang or fault workaround reference "
    "implementation index_add scatter argsort",
    "vllm-plugin-FL hygon DCU native torch op fault VMFault workaround BW1000 torch.ops.aten",
    "InfiniCore [2025秋季] 海光平台 torch 官方函数没有实现 不支持 算子 测试",
    "Hygon DCU torch dtk wrong result native op correct on cpu scatter index_put "
    "conv3d depthwise bf16 VAE nan",
    "feat(hygon) DCU decoupled libtorch_hip op missing kernel NotImplementedError "
    "aten Could not run CUDA backend DTK",
    "海光 DCU BW1000 K100_AI 官方 torch 不支持 算子 float8 int8 _int_mm _scaled_mm 报错",
)

REPORTS: tuple[Report, ...] = ()

_LEFT_OUT = {
    Why.KNOWN: """
        FlagOpen/FlagEmbedding#1022 pytorch/pytorch#132570 pytorch/pytorch#147626
        pytorch/pytorch#76071 pytorch/pytorch#150016 flagos-ai/FlagGems#6044
        flagos-ai/FlagGems#5354 flagos-ai/FlagGems#5436 PaddlePaddle/PaddleCustomDevice#728
    """,
    Why.NO_CALL: """
        modelscope/FunASR#2972 nlzy/vllm-gfx906#61 flagos-ai/Torch-FL#260
        flagos-ai/Megatron-LM-FL#147 flagos-ai/sglang-plugin-FL#35 alibaba/rtp-llm#854
        flagos-ai/Torch-FL#227 flagos-ai/FlagGems#3551 flagos-ai/FlagGems#5862
        ChipSum-Group/ChipSum#6 flagos-ai/vllm-plugin-FL#210 flagos-ai/vllm-plugin-FL#126
        flagos-ai/community#23
    """,
    Why.NO_PROGRAM: """
        kvcache-ai/ktransformers#992 ROCm/MIOpen#3726 flagos-ai/sglang-plugin-FL#124
    """,
    Why.OTHERS: """
        flagos-ai/FlagGems#2206 flagos-ai/Torch-FL#117 flagos-ai/sglang-plugin-FL#75
        flagos-ai/FlagGems#4552 flagos-ai/Torch-FL#277 flagos-ai/FlagGems#6222
        flagos-ai/FlagGems#6221 flagos-ai/FlagGems#6220 flagos-ai/FlagGems#4550
        flagos-ai/FlagGems#2844 flagos-ai/FlagGems#2888 flagos-ai/FlagGems#2890
        flagos-ai/Torch-FL#29 flagos-ai/Torch-FL#331 flagos-ai/FlagGems#3819
        flagos-ai/Torch-FL#345 flagos-ai/FlagGems#5822 flagos-ai/FlagGems#2816
        flagos-ai/FlagGems#5008 flagos-ai/FlagGems#2810 flagos-ai/FlagGems#2885
        flagos-ai/FlagGems#4557 flagos-ai/FlagGems#5016 flagos-ai/FlagGems#6195
        flagos-ai/Torch-FL#54 flagos-ai/Torch-FL#36 flagos-ai/FlagGems#2817
        flagos-ai/FlagGems-vllm#311 flagos-ai/Torch-FL#72 flagos-ai/FlagGems-vllm#329
        flagos-ai/FlagGems-vllm#353 InfiniTensor/InfiniCore#1305
        flagos-ai/FlagGems-vllm#358 flagos-ai/FlagGems-vllm#361 flagos-ai/FlagGems-vllm#357
        flagos-ai/FlagGems-vllm#360 flagos-ai/FlagGems-vllm#359
        InfiniTensor/InfiniCore#1303 InfiniTensor/InfiniCore#1082
        InfiniTensor/InfiniCore#435 flagos-ai/FlagGems#4799 InfiniTensor/InfiniCore#1378
        flagos-ai/FlagGems#3030 flagos-ai/FlagGems#4850 flagos-ai/FlagGems#4804
        flagos-ai/FlagGems-vllm#332 flagos-ai/FlagTree#79 InfiniTensor/InfiniCore#1095
        flagos-ai/TransformerEngine-FL#15 flagos-ai/FlagGems-vllm#291
        flagos-ai/FlagGems-vllm#765 flagos-ai/FlagGems-vllm#732 flagos-ai/FlagGems-vllm#746
        InfiniTensor/InfiniCore#1366 flagos-ai/Torch-FL#349 flagos-ai/FlagGems#6448
        flagos-ai/Torch-FL#259 flagos-ai/vllm-plugin-FL#156 InfiniTensor/InfiniCore#486
        flagos-ai/Torch-FL#332
    """,
    Why.UNCONFIRMED: """
        ROCm/MIOpen#1994
    """,
    Why.NO_TARGET: """
        artyom-beilis/pytorch_dlprim#38 pytorch/pytorch#30847 pytorch/pytorch#158113
        pytorch/pytorch#16537 intel/torch-xpu-ops#2309 pytorch/pytorch#107459
        pytorch/pytorch#161046 lucasjinreal/DCNv2_latest#77 microsoft/DirectML#204
        lucasjinreal/DCNv2_latest#9 PaddlePaddle/PaddleOCR#15920 AIR-THU/UniV2X#8
        lbin/DCNv2#14 zhihu/ZhiLight#15 PaddlePaddle/Paddle#68217
        PaddlePaddle/Paddle-Lite#4680 airockchip/rknn-toolkit2#504
        InfiniTensor/InfiniCore#449 InfiniTensor/InfiniLM#46
        deepmodeling/abacus-develop#4063 vllm-project/vllm-ascend#4273
        vllm-project/vllm-ascend#11936 pytorch/pytorch#164346 ROCm/pytorch#2730
        pytorch/pytorch#103973 ROCm/legacy-rocm-build#2536 pytorch/examples#1313
        nlzy/vllm-gfx906#6 ROCm/legacy-rocm-build#2527 Comfy-Org/ComfyUI#2842
        vllm-project/vllm#10855 pytorch/pytorch#194447 pytorch/pytorch#123094
        huggingface/autotrain-advanced#737 ROCm/hip#3874 huggingface/kernels-community#312
        vllm-project/vllm#6375 nlzy/vllm-gfx906#30 vllm-project/vllm#17170
        DeepAuto-AI/hip-attention#59 pytorch/pytorch#119772 vllm-project/vllm#9319
        nlzy/triton-gfx906#1 vllm-project/vllm#28052 ROCm/legacy-rocm-build#4447
        vllm-project/vllm#16608 kohya-ss/sd-scripts#2061 flagos-ai/TransformerEngine-FL#61
        pytorch/pytorch#135431 intel/torch-xpu-ops#2200 flagos-ai/Megatron-LM-FL#45
        meta-pytorch/tritonbench#41 unslothai/unsloth#1154 modelscope/ms-swift#2850
        ByteDance-Seed/VeOmni#250 xorbitsai/inference#3770 hiyouga/LlamaFactory#5102
        yangjianxin1/Firefly#259 InternLM/xtuner#430 Dao-AILab/flash-attention#915
        01-ai/Yi#90 unslothai/unsloth#827 pytorch/pytorch#18631 ROCm/pytorch#431
        pytorch/pytorch#32370 modular/modular#6563 pytorch/pytorch#34089 ROCm/pytorch#358
        pytorch/pytorch#110885 cupy/cupy#5213 mpicbg-scicomp/gearshifft#126
        pytorch/pytorch#10893 ROCm/torch_migraphx#123 ROCm/pytorch#801
        pytorch/pytorch#53411 ROCm/pytorch#811 cupy/cupy#5314 cupy/cupy#3892
        ROCm/pytorch#924 PaddlePaddle/Paddle#56424 sgl-project/sglang#21697
        vllm-project/vllm#31184 sgl-project/sglang#37140 InfiniTensor/InfiniTrain#199
        xLLM-AI/xllm#1915 sgl-project/sglang#32754 ROCm/legacy-rocm-build#1661
        ROCm/pytorch#677 ryujaehun/pytorch-gpu-benchmark#19 ROCm/TheRock#1229
        patientx-cfz/comfyui-rocm#57 ROCm/MIOpen#87 ROCm/TheRock#4954 ROCm/TheRock#6250
        ROCm/TheRock#1844 DiffSharp/DiffSharp#403 pytorch/pytorch#143219 ROCm/MIOpen#133
        ROCm/MIOpen#63 ROCm/tensorflow-upstream#142 ROCm/TheRock#798 ROCm/MIOpen#1189
        ROCm/TheRock#724 pytorch/pytorch#116532 pytorch/pytorch#39660 pytorch/pytorch#93703
        pytorch/pytorch#66205 janelia-cellmap/dacapo#284 Reagan1311/DABNet#44
        pytorch/pytorch#66609 ray-project/ray#9989 Lightning-AI/lightning-thunder#2589
        pytorch/pytorch#26862 flagos-ai/FlagGems#126 flagos-ai/FlagGems#6041
        dropbox/hqq#158 ROCm/pytorch#1672 openvdb/fvdb-core#32 ROCm/legacy-rocm-build#5191
        OpenGVLab/DCNv4#8 openvinotoolkit/openvino#25190 ROCm/pytorch#494
        flagos-ai/FlagGems#4141 flagos-ai/FlagGems#3610 flagos-ai/FlagGems#3988
        intel/torch-xpu-ops#109 pytorch/helion#3269 intel/torch-xpu-ops#1222
        pytorch/helion#716 intel/torch-xpu-ops#110 intel/torch-xpu-ops#2684
        intel/torch-xpu-ops#1296 intel/intel-xpu-backend-for-triton#438
        intel/torch-xpu-ops#1877 intel/torch-xpu-ops#603 pytorch/helion#1304
        tinygrad/tinygrad#18157 meta-pytorch/BackendBench#46 ROCm/rocm-libraries#9469
        microsoft/superbenchmark#456 ROCm/rocm-libraries#12352 eth-cscs/DLA-Future#577
        ROCm/hipBLASLt#251 cp2k/dbcsr#464 unslothai/unsloth-zoo#1248
        sgl-project/sglang#25659 Tencent/hpc-ops#41 openai/gpt-oss#192
        sgl-project/sglang#553 linkedin/Liger-Kernel#1183 flashinfer-ai/flashinfer#4130
        intel/intel-extension-for-pytorch#426 flagos-ai/sglang-plugin-FL#13
        vllm-project/vllm#9993 flagos-ai/vllm-plugin-FL#187 flagos-ai/vllm-plugin-FL#193
        flagos-ai/vllm-plugin-FL#27 InfiniTensor/InfiniCore#525 InfiniTensor/InfiniCore#371
        InfiniTensor/InfiniCore#778 InfiniTensor/InfiniCore#1166
        InfiniTensor/InfiniCore#353 InfiniTensor/InfiniCore#377 InfiniTensor/InfiniCore#912
        InfiniTensor/InfiniCore#1059 InfiniTensor/InfiniCore#373
        InfiniTensor/InfiniCore#565 InfiniTensor/InfiniCore#368 pytorch/pytorch#156173
        pytorch/pytorch#163347 pytorch/pytorch#95644 intel/torch-xpu-ops#1751
        Schaka/rocm-gfx803#2 pytorch/pytorch#105941 vllm-project/vllm-gaudi#1203
        tenstorrent/tt-metal#37794 pytorch/pytorch#188792 ROCm/pytorch#2896
        Gadersd/stable-diffusion-burn#8 huggingface/sentence-transformers#2903
        pytorch/pytorch#119678 pytorch/pytorch#72396 enesmsahin/simple-lama-inpainting#10
        pytorch/pytorch#108411 pytorch/pytorch#132005 intel/torch-xpu-ops#1939
        kijai/ComfyUI-WanVideoWrapper#320 vllm-project/vllm#28856 intel/torch-xpu-ops#1550
        ROCm/legacy-rocm-build#6019 stas00/ml-engineering#91 InfiniTensor/InfiniCore#841
        pytorch/pytorch#151160 kijai/ComfyUI-HunyuanVideoWrapper#364 pytorch/pytorch#192707
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
