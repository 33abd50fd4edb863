"""What Triton's Python backend runs: the class that it looks for in a model's model.py."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.pipeline import Pipeline
from penstock.plugin.served import Request, Served
from penstock.plugin.triton.repository import PIPELINE


class TritonPythonModel:
    """A serialized pipeline as a model. Triton makes one for each instance, in a process of its own."""

    def initialize(self, args: dict[str, Any]) -> None:
        """Builds the pipeline that lies beside model.py, on the instance's device."""
        import triton_python_backend_utils as utils  # which is there in Triton's own processes only

        self._utils = utils
        config = json.loads(args["model_config"])
        on_gpu = args["model_instance_kind"] == "GPU"
        text = (Path(args["model_repository"]) / args["model_version"] / PIPELINE).read_bytes()
        pipe = Pipeline.deserialize(text, device_id=int(args["model_instance_device_id"]) if on_gpu else None)
        self._served = Served(pipe)
        self._outputs = [output["name"] for output in config["output"]]
        self._decoupled = bool(config.get("model_transaction_policy", {}).get("decoupled"))

    def execute(self, requests: Sequence[Any]) -> list[Any] | None:
        """Answers the requests that Triton has put together."""
        if self._decoupled:
            for request in requests:
                self._stream(request)
            return None
        answers = self._served.answer([self._arrays(request) for request in requests], on_gpu=True)
        return [self._failed(answer) if isinstance(answer, Exception) else self._response(answer) for answer in answers]

    def finalize(self) -> None:
        """Ends the pipeline's threads."""
        self._served.close()

    def _arrays(self, request: Any) -> Request:
        return {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}

    def _stream(self, request: Any) -> None:
        sender = request.get_response_sender()
        try:
            for answer in self._served.stream(self._arrays(request)):
                sender.send(self._response(answer))
        except Exception as failure:
            sender.send(self._failed(failure))
        sender.send(flags=self._utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def _response(self, answer: Sequence[Any]) -> Any:
        return self._utils.InferenceResponse(
            [self._tensor(name, array) for name, array in zip(self._outputs, answer, strict=True)]
        )

    def _tensor(self, name: str, array: Any) -> Any:
        if hasattr(array, "__cuda_array_interface__"):
            return self._utils.Tensor.from_dlpack(name, array)
        if array.ndim == 1 and not self._decoupled:  # Triton counts samples along an axis before those it knows of
            array = array.reshape(-1, 1)
        return self._utils.Tensor(name, array)

    def _failed(self, failure: Exception) -> Any:
        text = f"{type(failure).__name__}: {failure}"
        return self._utils.InferenceResponse(output_tensors=[], error=self._utils.TritonError(text))
