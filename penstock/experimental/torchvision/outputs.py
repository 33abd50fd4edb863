"""`ToPureTensor`, `PILToTensor` and `ToPILImage`: what a `Compose` gives."""

from __future__ import annotations

from penstock.experimental.torchvision.transform import Picture, Transform


class Output(Transform):
    """Base of them: says ``kind``, and changes no pixel. Of several, the last one counts."""

    kind = ""

    def define(self, picture: Picture) -> Picture:
        return picture


class ToPureTensor(Output):
    """A `Compose` with it gives a PyTorch tensor, channels first, of the type that its transforms have made."""

    kind = "tensor"


class PILToTensor(Output):
    """The same: of a picture of Pillow's a tensor of UINT8 from 0 to 255, unless a transform makes another type."""

    kind = "tensor"


class ToPILImage(Output):
    """A `Compose` with it gives a picture of Pillow's, or a list of them for a batch."""

    kind = "pil"
