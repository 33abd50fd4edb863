"""Automatic augmentation: AutoAugment, RandAugment, TrivialAugment, and what they are made of.

>>> from penstock.auto_aug import rand_augment
>>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
... def pipeline():
...     files, labels = fn.readers.file(file_root=photos)
...     images = fn.decoders.image(files)
...     return rand_augment.rand_augment(images, n=2, m=9, shape=images.shape()[:2])
>>> pipeline().run()[0][0].shape()
[375, 500, 3]
"""
