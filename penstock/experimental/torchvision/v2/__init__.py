"""torchvision's second version of its transforms: functions are in `functional`, classes in the package above."""
