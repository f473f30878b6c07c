/** @typedef {import("./labels.js").Label} Label */
export { DataError, ProtocolFileError } from "./errors.js";
export { Protocol } from "./protocol.js";
