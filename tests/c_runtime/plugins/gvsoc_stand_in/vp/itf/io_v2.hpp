// The second I/O protocol: whether it is done, and how it went.
#pragma once
#include "vp/itf/io_base.hpp"

namespace vp {
enum IoReqStatus { IO_REQ_GRANTED, IO_REQ_DENIED, IO_REQ_DONE };
enum IoRespStatus { IO_RESP_OK, IO_RESP_INVALID };
struct IoReq : IoReqFields {
  IoRespStatus status = IO_RESP_OK;
  void prepare() { latency = 0, status = IO_RESP_OK; }
  IoRespStatus get_resp_status() { return status; }
  void set_resp_status(IoRespStatus value) { status = value; }
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
