#pragma once
#include "etiss/stand_in.h"
