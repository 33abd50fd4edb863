"""Training on ImageNet, as the well-known script of 2019 prepares its batches; and the loop around it."""

import math

import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator


class HybridTrainPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, dali_cpu=False, shard_id=0, num_shards=1):
        super(HybridTrainPipe, self).__init__(batch_size, num_threads, device_id, seed=12 + shard_id)  # noqa: UP008
        self.input = ops.FileReader(
            file_root=data_dir, shard_id=shard_id, num_shards=num_shards, random_shuffle=True, pad_last_batch=True
        )
        # let user decide which pipeline works him bets for RN version he runs
        dali_device = "cpu" if dali_cpu else "gpu"
        decoder_device = "cpu" if dali_cpu else "mixed"
        # This padding sets the size of the internal nvJPEG buffers to be able to handle all images from full-sized
        # ImageNet without additional reallocations
        device_memory_padding = 211025920 if decoder_device == "mixed" else 0
        host_memory_padding = 140544512 if decoder_device == "mixed" else 0
        self.decode = ops.ImageDecoderRandomCrop(
            device=decoder_device,
            output_type=types.RGB,
            device_memory_padding=device_memory_padding,
            host_memory_padding=host_memory_padding,
            random_aspect_ratio=[0.8, 1.25],
            random_area=[0.1, 1.0],
            num_attempts=100,
        )
        self.res = ops.Resize(device=dali_device, resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR)
        self.cmnp = ops.CropMirrorNormalize(
            device=dali_device,
            output_dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(crop, crop),
            image_type=types.RGB,
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        )
        self.coin = ops.CoinFlip(probability=0.5)

    def define_graph(self):
        rng = self.coin()
        self.jpegs, self.labels = self.input(name="Reader")
        images = self.decode(self.jpegs)
        images = self.res(images)
        output = self.cmnp(images, mirror=rng)
        return [output, self.labels]


class HybridValPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, size, dali_cpu=False):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        device = "cpu" if dali_cpu else "gpu"
        self.input = ops.FileReader(file_root=data_dir, shard_id=0, num_shards=1, random_shuffle=False)
        self.decode = ops.ImageDecoder(device="cpu" if dali_cpu else "mixed", output_type=types.RGB)
        self.res = ops.Resize(device=device, resize_shorter=size, interp_type=types.INTERP_TRIANGULAR)
        self.cmnp = ops.CropMirrorNormalize(
            device=device,
            output_dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(crop, crop),
            image_type=types.RGB,
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        )

    def define_graph(self):
        self.jpegs, self.labels = self.input(name="Reader")
        images = self.decode(self.jpegs)
        images = self.res(images)
        output = self.cmnp(images)
        return [output, self.labels]


class RandomResizedPipe(Pipeline):
    """The variant of other blogs: the whole picture is decoded, and a random part of it resized."""

    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, random_area):
        super().__init__(batch_size=batch_size, num_threads=num_threads, device_id=device_id, seed=12)
        self.input = ops.FileReader(file_root=data_dir, random_shuffle=False)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.rrc = ops.RandomResizedCrop(
            device="cpu", size=(crop, crop), random_area=random_area, random_aspect_ratio=[4 / 3, 4 / 3]
        )

    def define_graph(self):
        jpegs, labels = self.input(name="Reader")
        return self.rrc(self.decode(jpegs)), labels


def train(pipe, batch_size, world_size=1):
    """Two epochs: what the model would see of each batch."""
    pipe.build()
    train_loader = DALIClassificationIterator(pipe, size=int(pipe.epoch_size("Reader") / world_size))
    seen = []
    for _ in range(2):
        train_loader_len = int(math.ceil(train_loader._size / batch_size))  # noqa: RUF046
        batches = []
        for _i, data in enumerate(train_loader):
            input = data[0]["data"]
            target = data[0]["label"].squeeze().long()
            batches.append((input, target))
        assert len(batches) == train_loader_len
        seen.append(batches)
        train_loader.reset()
    return seen


class DALIDataloader(DALIGenericIterator):
    """Gives tuples, as a much copied loader for CIFAR and ImageNet does."""

    def __init__(self, pipeline, size, batch_size, output_map=["data", "label"], auto_reset=True):  # noqa: B006
        self._size = size
        self.batch_size = batch_size
        self.output_map = output_map
        super().__init__(pipelines=pipeline, size=size, auto_reset=auto_reset, output_map=output_map)

    def __next__(self):
        if self._first_batch is not None:
            batch = self._first_batch
            self._first_batch = None
            return batch
        data = super().__next__()[0]
        return [data[self.output_map[0]], data[self.output_map[1]]]

    def __len__(self):
        if self._size % self.batch_size == 0:
            return self._size // self.batch_size
        return self._size // self.batch_size + 1
