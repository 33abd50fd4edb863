"""A first pipeline, and what became of it: as notebooks and blogs of 2018 to 2020 begin."""

import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline


class SimplePipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, image_dir):
        super(SimplePipeline, self).__init__(batch_size, num_threads, device_id, seed=12)  # noqa: UP008
        self.input = ops.FileReader(file_root=image_dir)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)

    def define_graph(self):
        jpegs, labels = self.input()
        images = self.decode(jpegs)
        return (images, labels)


class ShuffledSimplePipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, image_dir):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input = ops.FileReader(file_root=image_dir, random_shuffle=True, initial_fill=21)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)

    def define_graph(self):
        jpegs, labels = self.input()
        images = self.decode(jpegs)
        return (images, labels)


class RotatedSimplePipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, image_dir):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input = ops.FileReader(file_root=image_dir)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.rotate = ops.Rotate(angle=10.0)

    def define_graph(self):
        jpegs, labels = self.input()
        images = self.decode(jpegs)
        rotated_images = self.rotate(images)
        return (rotated_images, labels)


class RandomRotatedSimplePipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, image_dir):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input = ops.FileReader(file_root=image_dir)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.rotate = ops.Rotate(fill_value=0)
        self.rng = ops.Uniform(range=(-10.0, 10.0))

    def define_graph(self):
        jpegs, labels = self.input()
        images = self.decode(jpegs)
        angle = self.rng()
        rotated_images = self.rotate(images, angle=angle)
        return (rotated_images, labels, angle)


class RandomRotatedGPUPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, image_dir):
        super().__init__(batch_size, num_threads, device_id, seed=12, exec_async=False, exec_pipelined=False)
        self.input = ops.FileReader(file_root=image_dir)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.rotate = ops.Rotate(device="gpu", angle=10.0)

    def define_graph(self):
        jpegs, labels = self.input()
        images = self.decode(jpegs)
        rotated_images = self.rotate(images.gpu())
        return (rotated_images, labels)


class HybridPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, image_dir):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input = ops.FileReader(file_root=image_dir)
        self.decode = ops.ImageDecoder(device="mixed", output_type=types.RGB)

    def define_graph(self):
        jpegs, labels = self.input()
        images = self.decode(jpegs)
        return (images, labels)


class AugmentedPipeline(Pipeline):
    """One photograph, in several ways."""

    def __init__(self, batch_size, num_threads, device_id, image_dir, device="cpu"):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.device = device
        self.input = ops.FileReader(file_root=image_dir, shard_id=0, num_shards=1)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(
            device=device, image_type=types.RGB, interp_type=types.INTERP_LINEAR, resize_x=300.0, resize_y=224.0
        )
        self.flip = ops.Flip(device=device, vertical=1, horizontal=0)
        self.twist = ops.ColorTwist(device=device, saturation=0.5, contrast=1.3, brightness=0.9)
        self.brightness = ops.BrightnessContrast(device=device, brightness=1.5)
        self.hsv = ops.Hsv(device=device, hue=120.0, saturation=1, value=0.4)
        self.warp = ops.WarpAffine(device=device, matrix=(1.0, 0.8, -100.0, 0.0, 1.2, 0.0), fill_value=0)
        self.crop = ops.Crop(device=device, crop=(100, 120), crop_pos_x=0.25)
        self.cmn = ops.CropMirrorNormalize(
            device=device,
            output_dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(224, 224),
            image_type=types.RGB,
            mean=[128.0, 128.0, 128.0],
            std=[1.0, 1.0, 1.0],
        )
        self.cast = ops.Cast(device=device, dtype=types.INT32)

    def define_graph(self):
        self.jpegs, self.labels = self.input(name="Reader")
        images = self.decode(self.jpegs)
        if self.device == "gpu":
            images = images.gpu()
        images = self.resize(images)
        outputs = [op(images) for op in (self.flip, self.twist, self.brightness, self.hsv, self.warp, self.crop)]
        return [self.cast(images), *outputs, self.cmn(images), self.labels]
