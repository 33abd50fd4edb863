"""Batches that other processes make for a trainer: `penstock.plugin.ray` but for Ray.

A trainer's `pipeline.RemotePipeline` decides which samples a batch has and wants `units` of its `crew`. `leases` note
who has which, and a `crew.Transport` brings them to a `maker.Maker` and batches back.
"""
