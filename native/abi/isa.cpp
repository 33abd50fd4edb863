#include "penstock.h"

const char* ps_isa() { return PS_ISA; }
