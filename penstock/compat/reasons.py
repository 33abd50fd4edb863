"""Why names of DALI's are refused, and what to use instead.

A reason holds for a module or a name, and all below it that Penstock does not have by now.
"""

from __future__ import annotations

_STREAMS = "which GPU and stream a program works on is its framework's to say: torch.cuda, cupy.cuda or cuda.core"
_START = "DALI's own start; Penstock begins with the first pipeline"
_INSIDE = "a part of DALI's inside"
_NOT_YET = "Penstock does not have it yet"

REASONS = {
    "backend_impl.CUDAStreamSynchronize": _STREAMS,
    "backend_impl.GetCUDACurrentDevice": _STREAMS,
    "backend_impl.GetCUDAStreamDevice": _STREAMS,
    "backend_impl.SetCUDACurrentDevice": f"{_STREAMS}; a pipeline's GPU is its device_id",
    "backend_impl.Stream": _STREAMS,
    "backend_impl.GetCufftVersion": "Penstock does not use cuFFT",
    "backend_impl.GetNppVersion": "Penstock does not use NPP",
    "backend_impl.GetOpenCVVersion": "Penstock contains no OpenCV",
    "backend_impl.GetCxx11AbiFlag": "libraries of operators have a C ABI, which no such flag changes "
    "(penstock.sysconfig.get_compile_flags)",
    "backend_impl.Init": _START,
    "backend_impl.IsDriverInitialized": f"{_START}; GetCUDADeviceCount() tells whether there is a GPU",
    "backend_impl.LoadDefaultPlugins": "Penstock comes without any: plugin_manager.load_library loads yours",
    "backend_impl.RestrictPinnedMemUsage": "PENSTOCK_PINNED_MEMORY limits pinned memory, in bytes",
    "backend_impl.ExternalContextCheckpoint": "Pipeline.checkpoint() gives all that is needed, as text "
    "(docs/checkpoints.md)",
    "backend_impl.OpSpec": f"{_INSIDE}: fn and ops make operators, GetSchema tells of their arguments",
    "backend_impl.Pipeline": f"{_INSIDE}: use nvidia.dali.Pipeline, or pipeline_def",
    "backend_impl.PipelineDebug": f"{_INSIDE}: use pipeline_def(debug=True)",
    "backend_impl.SharedMem": f"{_INSIDE}: use multiprocessing.shared_memory of Python",
    "backend.check_cuda_runtime": "`python -m penstock doctor` says what this machine has for GPUs",
    "backend.cuda_checked": _START,
    "backend.initialized": _START,
    "backend.deprecation_warning": f"{_INSIDE}: use warnings.warn of Python",
    "data_node.not_iterable": _INSIDE,
    "internal": _INSIDE,
    "ops.Reload": "operators are in fn and ops as soon as plugin_manager.load_library has loaded them",
    "ops.python_op_factory": f"{_INSIDE}: penstock.operator makes operators (docs/custom-operators.md)",
    "ops.register_cpu_op": f"{_INSIDE}: penstock.operator makes operators (docs/custom-operators.md)",
    "ops.register_gpu_op": f"{_INSIDE}: penstock.operator makes operators (docs/custom-operators.md)",
    "pipeline.WorkerPool": f"{_INSIDE}: external_source(parallel=True) has workers of its own",
    "pipeline.pipeline_tls": f"{_INSIDE}: Pipeline.current() tells which pipeline is being defined",
    "plugin.jax.integration": _INSIDE,
    "plugin.jax.iterator.default_num_threads_value": _INSIDE,
    "plugin.numba.address_as_void_pointer": _INSIDE,
    "plugin.numba.minimal_numba_version": "the versions of Numba that work are those of pip install penstock[numba]",
    "python_function_plugin.DLTensorObj": f"{_INSIDE}: functions get DLPack capsules",
    "reducers": f"{_INSIDE}: use nvidia.dali.reducers.DaliCallbackPickler, or pickling.pickle_by_value",
    "tensors": f"{_INSIDE}: str() of a tensor or list gives its text",
    "types.dali_type_converters": "types of frameworks are converted by types.to_dali_type, for those of NumPy, "
    "PyTorch and JAX; penstock.frameworks.register takes others",
    "experimental.torchvision.v2": f"{_INSIDE}: use what experimental.torchvision has, and its v2.functional",
    "experimental.dynamic.bfloat16": "Penstock has no type BFLOAT16",
    "experimental.dynamic.experimental.decoders": "an old name: use experimental.dynamic.decoders",
    "experimental.dynamic.experimental.peek_image_shape": "an old name: use experimental.dynamic.peek_image_shape",
    "experimental.dynamic.pytorch": f"{_NOT_YET}: use an iterator of penstock.plugin.pytorch",
}


def reason(name: str) -> str | None:
    """Why a module, or a name of a module, is not supported: what is said of it, or of what it lies in."""
    while name:
        if name in REASONS:
            return REASONS[name]
        name = name.rpartition(".")[0]
    return None
