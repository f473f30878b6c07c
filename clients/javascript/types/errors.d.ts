/** A file that is no protocol file, with the place where that shows. */
export class ProtocolFileError extends Error {
}
/** An entry that cannot be released. It may be personal data, so the message does not show it. */
export class DataError extends Error {
}
