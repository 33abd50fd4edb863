// The tables of device/color/lab.h.
#pragma once

#include "device/color/lab.h"

namespace ps {

const device::LabTables& lab_tables();   // made when they are first needed

}  // namespace ps
