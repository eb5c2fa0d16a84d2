// The first I/O protocol: an answer is a status.
#pragma once
#include "vp/itf/io_base.hpp"

namespace vp {
enum IoReqStatus { IO_REQ_OK, IO_REQ_INVALID, IO_REQ_DENIED, IO_REQ_PENDING };
struct IoReq : IoReqFields {
  void init() { latency = 0, debug = false; }
  void set_debug(bool value) { debug = value; }
};
struct IoSlave {
  using Method = IoReqStatus(Block *, IoReq *);
  Method *method = nullptr;
  void set_req_meth(Method *value) { method = value; }
};
struct IoMaster {
  IoReqStatus (*answer)(IoMaster *, IoReq *) = nullptr;
  IoReqStatus req(IoReq *request) { return answer(this, request); }
};
} // namespace vp
