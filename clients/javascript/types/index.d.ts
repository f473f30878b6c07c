export { Protocol } from "./protocol.js";
export type Label = import("./labels.js").Label;
export { DataError, ProtocolFileError } from "./errors.js";
